#!/usr/bin/env python3
"""hbmscope report --follow: each failure is printed once, when the log has it; a log that was begun anew counts anew."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

HBMSCOPE = sys.argv[1]
FAILED = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {}.00 MiB. GPU 0 has a total capacity of 4.00 GiB\n"


def lines_of(process, count):
    return [json.loads(process.stdout.readline()) for _ in range(count)]


def of_a_pipe():
    process = subprocess.Popen(
        [HBMSCOPE, "report", "-", "--follow", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    for number, size in enumerate((64, 32), start=1):
        process.stdin.write(f"step {number}\n{FAILED.format(size)}".encode())
        process.stdin.flush()
        (row,) = lines_of(process, 1)
        assert row["asked_bytes"] == size << 20, row
        assert row["line"] == 2 * number, row
    process.stdin.close()
    assert process.stdout.read() == b"", "a failure was printed twice"
    assert process.wait() == 0


def of_a_file(folder):
    log = folder / "train.log"
    log.write_text("step 1\n")
    process = subprocess.Popen([HBMSCOPE, "report", log, "--follow", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert b"following" in process.stderr.readline()
    with log.open("a") as file:
        file.write(FAILED.format(64))
    (row,) = lines_of(process, 1)
    assert row["asked_bytes"] == 64 << 20 and row["line"] == 2, row
    log.write_text("")
    assert b"begun anew" in process.stderr.readline()
    with log.open("a") as file:
        file.write(FAILED.format(128))
    (row,) = lines_of(process, 1)
    assert row["asked_bytes"] == 128 << 20 and row["line"] == 1, row
    process.terminate()
    process.wait()


def of_what_can_not_be_followed():
    run = subprocess.run([HBMSCOPE, "report", "a", "b", "--follow"], capture_output=True, text=True)
    assert run.returncode != 0 and "--follow follows one log" in run.stderr, run.stderr
    run = subprocess.run([HBMSCOPE, "report", "a", "--follow", "--series"], capture_output=True, text=True)
    assert run.returncode != 0 and "--series can't be combined with --follow" in run.stderr, run.stderr


of_a_pipe()
with tempfile.TemporaryDirectory() as folder:
    of_a_file(pathlib.Path(folder))
of_what_can_not_be_followed()
print("each failure was printed once")
