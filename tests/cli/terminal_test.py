#!/usr/bin/env python3
"""Bars and colours belong to terminals: the same report in a pseudo-terminal, in a pipe, and with NO_COLOR."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

PROGRAM = sys.argv[1]
COMMAND = [PROGRAM, "report", "samples/leak_step_200.pprof.gz", "--top", "3"]


def in_terminal(command, columns=0, **environment):
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
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


try:
    for end in pty.openpty():
        os.close(end)
except OSError as why:
    print(f"skipped: this machine gives no pseudo-terminal ({why})")
    sys.exit(77)
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

# Prose is wrapped, and of tables columns are left out and names shortened.
PAGES = re.findall(r"^  ([a-z]+)  ", subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout, re.M)
check(len(PAGES) > 15, "the help lists the commands")
SAMPLES = ["explain samples/fragments.hbm", "report samples/fragments.hbm --metrics", "report samples/leak_step_200.pprof.gz",
           "whatif samples/fragments.hbm", "savings samples/fragments.hbm", "diff samples/leak_step_100.pprof.gz samples/leak_step_200.pprof.gz",
           "check samples/fragments.hbm", "tpu fit samples/tpu/fsdp.json", "tpu generations", "emulate"]
for words in SAMPLES + ["--help"] + [f"{page} --help" for page in PAGES] + ["tpu fit --help", "tpu run --help"]:
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", in_terminal([PROGRAM, *words.split()], columns=80)).replace("\r\n", "\n")
    wide = [line for line in (one.split("\r")[-1] for one in text.split("\n")) if len(line) > 80]
    check(not wide, f"hbmscope {words} fits into 80 columns, but for {wide[:3]}")

# A reader that goes away early is no error of ours, and nothing to complain about.
closed = subprocess.run(["bash", "-c", f"'{PROGRAM}' report samples/leak_step_200.pprof.gz --top 0 --json | head -1"],
                        capture_output=True, text=True, check=True)
check(closed.stdout == "{\n" and closed.stderr == "", "a closed pipe is silent")


def field(number, value):
    """A field of a protobuf message: a number, or bytes."""
    def varint(n):
        return bytes([n & 127 | (128 if n > 127 else 0)]) + (varint(n >> 7) if n > 127 else b"")
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


# A profile whose names try to be more than text: they may move no cursor, change no colour and begin no line.
HOSTILE = b"\x1b[31mred\nline\x1b]0;title\x07\x9b2J"
texts = [b"", b"allocations", b"count", b"space", b"bytes", HOSTILE, b"kind", b"device"]
profile = (field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
           + field(2, field(1, 1) + field(2, 1) + field(2, 4096)
                   + field(3, field(1, 6) + field(2, 5)) + field(3, field(1, 7) + field(2, 5)))
           + field(4, field(1, 1) + field(4, field(1, 1) + field(2, 3)))
           + field(5, field(1, 1) + field(2, 5) + field(4, 5))
           + b"".join(field(6, text) for text in texts))
for arguments in (["report", "-"], ["report", "-", "--tree"], ["report", "-", "--peek", "red"], ["check", "-"],
                  ["report", "-", "--by", "kind"], ["report", "-", "--fail-if", "kind:red"]):
    done = subprocess.run([PROGRAM, *arguments], input=profile, capture_output=True, check=False)
    check(done.stdout and b"\x1b" not in done.stdout + done.stderr and b"\x07" not in done.stdout + done.stderr,
          f"{arguments} prints no control characters of a file")
    check(b"\nline" not in done.stdout, f"{arguments} keeps a name on its line")
    done.stdout.decode("utf-8")
with tempfile.NamedTemporaryFile() as file:
    file.write(profile)
    file.flush()
    for form in ("csv", "folded", "json"):
        exported = in_terminal([PROGRAM, "export", file.name, "--to", form])
        check("red" in exported and not any(c in exported for c in "\x1b\x07\x9b"), f"{form} in a terminal has no control characters of a file")
exported = subprocess.run([PROGRAM, "export", "-", "--to", "csv"], input=profile, capture_output=True, check=True).stdout
check(b"\x1b[31mred" in exported, "a pipe gets the names as they are")
# Not even whoever makes JSON visible with cat.
for form in (["export", "-", "--to", "json"], ["report", "-", "--json"]):
    done = subprocess.run([PROGRAM, *form], input=profile.replace(b"2J", b"\x7fJ"), capture_output=True, check=True).stdout
    check(b"\\u007f" in done and b"\x7f" not in done, f"{form} escapes DEL")
print("terminals and pipes get what they should")
