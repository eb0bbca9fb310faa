#!/usr/bin/env python3
"""What is installed needs no libraries but those of every system, and what is built on Debian 12 starts with glibc 2.34.

    symbols_test.py FOLDER        with bin, lib and share, as cmake --install makes them
"""

import pathlib
import platform
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "app" / "package"))
from needed_glibc import binaries_of, needed_glibc  # noqa: E402

GLIBC_MAX = (2, 34)
BUILT_ON_MAX = (2, 36)  # Debian 12's; with a newer one at hand, newer symbols are linked.
ON_EVERY_SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def find_faults(binary, checks_glibc):
    symbols = subprocess.run(["objdump", "-T", binary], capture_output=True, text=True).stdout
    needed = set(re.findall(r"NEEDED\s+(\S+)", subprocess.run(["objdump", "-p", binary], capture_output=True, text=True).stdout))
    faults = [f"needs C++ symbols of {version}" for version in sorted(set(re.findall(r"(?:GLIBCXX|CXXABI)_[\d.]+", symbols)))]
    glibc = needed_glibc(binary)
    if checks_glibc and glibc > GLIBC_MAX:
        faults.append(f"needs glibc {'.'.join(map(str, glibc))}")
    return faults + [f"needs {library}" for library in sorted(needed - ON_EVERY_SYSTEM)]


def main():
    folder = pathlib.Path(sys.argv[1])
    built_on = tuple(int(part) for part in platform.libc_ver()[1].split("."))
    faults = {binary: find_faults(binary, built_on <= BUILT_ON_MAX) for binary in binaries_of(folder)}
    for binary, wrong in faults.items():
        for fault in wrong:
            print(f"{binary.relative_to(folder)} {fault}")
    print(f"{len(faults)} binaries" + ("" if built_on <= BUILT_ON_MAX else f"; built on glibc {built_on}, so what they need is not compared with {GLIBC_MAX}"))
    sys.exit(len(faults) < 20 or any(faults.values()))


if __name__ == "__main__":
    main()
