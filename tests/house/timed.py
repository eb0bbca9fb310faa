#!/usr/bin/env python3
"""Runs a command and says how long it took, on the clock and in processor time of it and all that it started.

    timed.py NAME COMMAND...
"""

import os
import subprocess
import sys
import time


def main(name, *command):
    begin = time.monotonic()
    status = subprocess.call(command)
    used = os.times()
    cpu = used.children_user + used.children_system
    print(f"{name}: {time.monotonic() - begin:.0f} s, {cpu:.0f} CPU s", flush=True)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
