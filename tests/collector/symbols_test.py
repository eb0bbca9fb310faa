#!/usr/bin/env python3
"""What the collector asks of the process that it is loaded into: glibc alone, no symbol newer than 2.31, and nothing of
its own that could be taken for the host's, but for what it stands in front of: the driver's memory calls and dlsym; and NVTX's way in.

    symbols_test.py LIBRARY ENTRIES...
"""

import re
import subprocess
import sys
from pathlib import Path

NEWEST = (2, 31)
INTERPOSED = [name for path in sys.argv[2:] for name in re.findall(r"^(?:ALLOCATES|FREES|REFUSES|RUNS|RESOLVES)\(((?:cu|hip)\w+)", Path(path).read_text(), re.MULTILINE)]
OF_PYTORCH = {"_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE"}
EXPORTED = {"hbmscope_announce", "hbmscope_attach_1", "hbmscope_functions_1", "InitializeInjectionNvtx2", "dlclose", "dlopen", "dlsym", "dlvsym", "prctl", "syscall", *INTERPOSED, *OF_PYTORCH}


def main():
    dynamic = subprocess.run(["objdump", "-p", sys.argv[1]], capture_output=True, text=True, check=True).stdout
    symbols = subprocess.run(["objdump", "-T", sys.argv[1]], capture_output=True, text=True, check=True).stdout
    wrong = [f"needs {library}" for library in re.findall(r"NEEDED\s+(\S+)", dynamic) if library != "libc.so.6"]
    for version in set(re.findall(r"GLIBC_([0-9.]+)", symbols)):
        if tuple(int(part) for part in version.split(".")) > NEWEST:
            wrong.append(f"needs GLIBC_{version}")
    defined = {line.split()[-1] for line in symbols.splitlines() if re.search(r"\s\.text|\s\.data|\s\.bss", line)}
    if defined != EXPORTED:
        wrong.append(f"exports {sorted(defined)}")
    if not re.search(r"GLIBC_", symbols):
        wrong.append("no symbol of glibc was found: what was read is no collector")
    if len(INTERPOSED) < 90:
        wrong.append(f"the table of entry points was not read: {INTERPOSED}")
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


main()
