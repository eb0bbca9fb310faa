#!/usr/bin/env python3
"""Bars and colours belong to terminals: the same report in a pseudo-terminal, in a pipe, and with NO_COLOR."""
import os
import pty
import subprocess
import sys

PROGRAM = sys.argv[1]
COMMAND = [PROGRAM, "report", "samples/leak_step_200.pprof.gz", "--top", "3"]


def in_terminal(command, **environment):
    leader, follower = pty.openpty()
    process = subprocess.Popen(command, stdout=follower, stderr=follower, stdin=follower,
                               env={**os.environ, **environment})
    os.close(follower)
    text = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # Linux says EIO when the other side is closed.
            break
        if not part:
            break
        text += part
    os.close(leader)
    assert process.wait() == 0
    return text.decode()


def check(holds, what):
    if not holds:
        sys.exit(f"failed: {what}")


environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
os.environ.clear()
os.environ.update(environment)
shown = in_terminal(COMMAND)
check("\x1b[" in shown, "a terminal gets colours")
check("█" in shown, "a terminal gets bars")
plain = in_terminal(COMMAND, NO_COLOR="1")
check("\x1b[" not in plain, "NO_COLOR is obeyed")
check("█" in plain, "NO_COLOR leaves the bars")
piped = subprocess.run(COMMAND, capture_output=True, text=True, check=True).stdout
check("\x1b[" not in piped and "█" not in piped, "a pipe gets neither")
# A reader that goes away early is no error of ours, and nothing to complain about.
closed = subprocess.run(["bash", "-c", f"'{PROGRAM}' report samples/leak_step_200.pprof.gz --top 0 --json | head -1"],
                        capture_output=True, text=True, check=True)
check(closed.stdout == "{\n" and closed.stderr == "", "a closed pipe is silent")
print("terminals and pipes get what they should")
