#!/usr/bin/env python3
"""The oldest glibc on which the binaries of a folder start, read off the versions of the symbols that they need.

    needed_glibc.py FOLDER        prints "2.34"
"""

import pathlib
import re
import subprocess
import sys


def binaries_of(folder):
    files = (file for file in sorted(pathlib.Path(folder).rglob("*")) if file.is_file() and not file.is_symlink())
    return [file for file in files if file.open("rb").read(4) == b"\x7fELF"]


def needed_glibc(binary):
    """(2, 34); (0,) for a static program."""
    symbols = subprocess.run(["objdump", "-T", binary], capture_output=True, text=True).stdout
    versions = re.findall(r"GLIBC_(\d+(?:\.\d+)+)", symbols)
    return max((tuple(int(part) for part in version.split(".")[:2]) for version in versions), default=(0,))


def needed_by_all(folder):
    return max(needed_glibc(binary) for binary in binaries_of(folder))


if __name__ == "__main__":
    print(".".join(map(str, needed_by_all(sys.argv[1]))))
