#!/usr/bin/env python3
"""What the failed tests of the last run printed, their ends, where a log that is cut at its beginning still has them.

    say_failures.py BUILD [LINES_OF_EACH]
"""

import pathlib
import re
import sys

TESTS_MAX, WIDTH_MAX = 4, 300
FRAMES = ("[---", "[===", "[ RUN", "[       OK", "[  PASSED", "Running main", "Note: ", " 1 FAILED TEST")  # GoogleTest's.


def output_of(log, name):
    begin = re.search(rf"^\"{re.escape(name)}\" start time: .*\nOutput:\n-+\n", log, re.M)
    if not begin:
        return []
    text = log[begin.end() :].split("<end of output>", 1)[0]
    return [line[:WIDTH_MAX] for line in text.splitlines() if line.strip() and not line.startswith(FRAMES)]


def main(build, lines_of_each=6):
    folder = pathlib.Path(build, "Testing/Temporary")
    failed_list = folder / "LastTestsFailed.log"
    failed = [line.split(":", 1)[1] for line in failed_list.read_text().splitlines()] if failed_list.exists() else []
    log = (folder / "LastTest.log").read_text(errors="replace") if failed else ""
    for name in failed[:TESTS_MAX]:
        print(f"{name} said:")
        for line in output_of(log, name)[-int(lines_of_each) :]:
            print(f"  {line}")
    if len(failed) > TESTS_MAX:
        print(f"and {len(failed) - TESTS_MAX} more failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
