#!/usr/bin/env python3
"""What is installed runs on glibc 2.34 and later, and needs no libraries but those of every system: read off the binaries.

    symbols_test.py FOLDER        with bin, lib and share, as cmake --install makes them
"""

import pathlib
import re
import subprocess
import sys

GLIBC_MAX = (2, 34)
ON_EVERY_SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# libzstd.a of Debian can't be a part of a shared library; package managers need its shared one everywhere.
ALSO = {"libhbmscope_serve.so": {"libzstd.so.1"}}


def faults_of(file):
    symbols = subprocess.run(["objdump", "-T", file], capture_output=True, text=True).stdout
    versions = {tuple(int(part) for part in match.split(".")) for match in re.findall(r"GLIBC_(\d+(?:\.\d+)+)", symbols)}
    needed = set(re.findall(r"NEEDED\s+(\S+)", subprocess.run(["objdump", "-p", file], capture_output=True, text=True).stdout))
    faults = [f"needs glibc {'.'.join(map(str, version))}" for version in versions if version[:2] > GLIBC_MAX]
    faults += [f"needs C++ symbols of {match}" for match in set(re.findall(r"(?:GLIBCXX|CXXABI)_[\d.]+", symbols))]
    return faults + [f"needs {library}" for library in sorted(needed - ON_EVERY_SYSTEM - ALSO.get(file.name, set()))]


def main():
    folder = pathlib.Path(sys.argv[1])
    binaries = [file for file in sorted(folder.rglob("*")) if file.is_file() and not file.is_symlink() and file.open("rb").read(4) == b"\x7fELF"]
    faults = {file: faults_of(file) for file in binaries}
    for file, wrong in faults.items():
        for fault in wrong:
            print(f"{file.relative_to(folder)} {fault}")
    print(f"{len(binaries)} binaries")
    sys.exit(len(binaries) < 20 or any(faults.values()))


if __name__ == "__main__":
    main()
