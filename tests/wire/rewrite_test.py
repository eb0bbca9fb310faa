#!/usr/bin/env python3
"""`hbmscope convert` of recordings with small blocks: every answer stays as it was, in a fraction of the bytes.

    rewrite_test.py HBMSCOPE SMALL_RECORDING
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

HBMSCOPE, SMALL_RECORDING = sys.argv[1:3]
faults = []


def check(where, what, wanted, got):
    if wanted != got:
        faults.append(f"{where}: {what}: {wanted} before, {got} after")


def report(path, *options):
    """The whole answer, without the file's own name and size and the number of its blocks."""
    run = subprocess.run([HBMSCOPE, "report", "--json", *options, str(path)], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"report {' '.join(options)} {path}: exit {run.returncode}: {run.stderr}")
    text = run.stdout.replace(str(path), "FILE")
    answer = json.loads(text)
    for key in ("file_bytes", "bytes"):
        answer.pop(key, None)
    answer["import"] = [row for row in answer["import"] if row["name"] != "blocks"]
    return answer


def convert(before, after):
    run = subprocess.run([HBMSCOPE, "convert", str(before), "-o", str(after)], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"convert {before}: exit {run.returncode}: {run.stderr}")


def blocks_of(path):
    run = subprocess.run([HBMSCOPE, "report", "--json", str(path)], capture_output=True, text=True, check=True)
    return next(row["count"] for row in json.loads(run.stdout)["import"] if row["name"] == "blocks")


def compare(where, before, after, moments):
    for moment in moments:
        options = ["--at", moment] if moment else []
        check(f"{where}, {moment or 'no moment'}", "report --json", report(before, *options), report(after, *options))


def test_small_blocks(folder):
    before, after, again = (folder / name for name in ("small.hbm", "large.hbm", "again.hbm"))
    events = 36_000
    subprocess.run([SMALL_RECORDING, str(before), str(events)], check=True)
    convert(before, after)
    compare("small blocks", before, after, ["", "start", "peak", "end", "0.35s", "1800s", "#1", "#17999", f"#{events}"])
    small, large = before.stat().st_size, after.stat().st_size
    print(f"{events} events at 10 a second: {blocks_of(before)} blocks, {small / events:.2f} bytes an event; "
          f"rewritten {blocks_of(after)}, {large / events:.2f}")
    if blocks_of(after) > 3 or large * 3 > small:
        faults.append(f"small blocks: {blocks_of(after)} blocks of {large} bytes are left of {small} bytes")
    check("small blocks", "header, with the moment at which recording began", before.read_bytes()[:32],
          after.read_bytes()[:32])
    # Blocks of the maximum size stay unchanged.
    convert(after, again)
    if after.read_bytes() != again.read_bytes():
        faults.append("merged once more: the file is another one")


def test_streams(folder):
    before, after = folder / "streams.hbm", folder / "streams_large.hbm"
    subprocess.run([SMALL_RECORDING, str(before), "9000", "3"], check=True)
    convert(before, after)
    compare("three streams", before, after, ["", "start", "peak", "450s"])


def test_damage(folder):
    """What was lost stays lost: cut off, in the middle, at the end of a finished file; also after a second rewriting."""
    whole = folder / "whole.hbm"
    subprocess.run([SMALL_RECORDING, str(whole), "3000"], check=True)
    data = whole.read_bytes()
    damaged = {"cut": data[: len(data) * 2 // 3], "cut at the last block": data[:-3000]}
    numbers = random.Random(3)
    for place in range(6):
        at = 32 + numbers.randrange(len(data) - 6000)
        damaged[f"changed at {at}"] = data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]
    last = data.rfind(b"hbmB", 0, data.rfind(b"hbmB"))
    damaged["the last block changed"] = data[: last + 70] + bytes([data[last + 70] ^ 1]) + data[last + 71 :]
    damaged["two places changed"] = bytes(
        byte ^ (1 if at in (9000, 20000) else 0) for at, byte in enumerate(data))
    for name, contents in damaged.items():
        before, after, again = (folder / each for each in ("damaged.hbm", "rewritten.hbm", "again.hbm"))
        before.write_bytes(contents)
        convert(before, after)
        compare(name, before, after, ["", "peak", "#100"])
        if not any(row["severity"] in ("loss", "warning") for row in report(after)["import"]):
            faults.append(f"{name}: nothing is said of it any more")
        convert(after, again)
        compare(name + ", twice", before, again, [""])


def main():
    with tempfile.TemporaryDirectory() as name:
        for test in (test_small_blocks, test_streams, test_damage):
            test(pathlib.Path(name))
    for fault in faults[:20]:
        print(fault[:3000], file=sys.stderr)
    sys.exit(1 if faults else 0)


main()
