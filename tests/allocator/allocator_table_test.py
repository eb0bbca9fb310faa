#!/usr/bin/env python3
"""The table in samples/README.md is what samples/allocator_table.py prints today.

    tests/allocator/allocator_table_test.py HBMSCOPE       from the root of the repository
"""
import pathlib
import subprocess
import sys

printed = subprocess.run([sys.executable, "samples/allocator_table.py", sys.argv[1]], capture_output=True, text=True, check=True).stdout.splitlines()
readme = pathlib.Path("samples/README.md").read_text().splitlines()
missing = [line for line in printed if line not in readme]
for line in missing:
    print("not in samples/README.md:", line)
sys.exit(1 if missing or len(printed) < 10 else 0)
