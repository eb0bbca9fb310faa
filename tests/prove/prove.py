#!/usr/bin/env python3
"""Compares dry runs with what others have measured on real GPUs.

    prove.py HBMSCOPE PYTHON [--page FILE] [OPERATOR ...]

Each row of rows.tsv is a published figure with its source, and the program of our own that does what was measured. Rows
with the same program, settings and device are measured in one process, as they were. Ends with 1 if a row that needs no
explanation (column `why`) is not equal, to the digits that were published.
"""

import argparse
import collections
import csv
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def as_published(mib):
    """The benchmarks keep float32."""
    return struct.unpack("f", struct.pack("f", mib))[0]


def measure(arguments, group, rows):
    operator, settings, device = group
    given = json.dumps({**json.loads(settings), "x": [int(row["x"]) for row in rows]})
    with tempfile.TemporaryDirectory() as folder:
        command = [arguments.hbmscope, "run", "--no-flight", "--no-window", "--record", f"{folder}/run.hbm", "--emulate", device, "--", arguments.python, HERE / "operators.py", operator, given]
        done = subprocess.run(command, capture_output=True, text=True)
    found = {x: float(mib) for _, x, mib in (line.split() for line in done.stdout.splitlines() if line.startswith("measured "))}
    if len(found) < len(rows):
        print(done.stdout[-2000:] + done.stderr[-2000:], file=sys.stderr)
    return found


def judge(row, dry):
    if dry is None:
        return "no figure"
    published = float(row["published_mib"])
    if as_published(dry) == as_published(published):
        return "equal"
    share = abs(dry - published) / published
    return next((f"within {percent} %" for percent in (0.1, 1) if share <= percent / 100), "different")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hbmscope")
    parser.add_argument("python")
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--page")
    arguments = parser.parse_args()
    groups = collections.defaultdict(list)
    with open(HERE / "rows.tsv", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if not arguments.operators or row["operator"] in arguments.operators:
                groups[row["operator"], row["settings"], row["device"]].append(row)
    table, results, unexplained = [], collections.Counter(), 0
    for group, rows in groups.items():
        found = measure(arguments, group, rows)
        for row in rows:
            dry = found.get(row["x"])
            result = judge(row, dry)
            results[result] += 1
            unexplained += result != "equal" and not row["why"]
            why = "" if result == "equal" else row["why"] or "not explained"
            table.append((row["row"], row["operator"], row["x"], row["device"], row["published_mib"], "" if dry is None else f"{dry:.10g}", result, why, row["source"]))
            print(f"{row['row']}  {row['operator']:<15}{row['x']:>7}  {row['device']:<9}{row['published_mib']:>17} MiB published {table[-1][5]:>17} MiB dry  {result:<13} {why}", flush=True)
    summary = f"{sum(results.values())} rows: " + ", ".join(f"{count} {result}" for result, count in results.most_common())
    print(summary)
    if arguments.page:
        lines = ["# Dry runs and real GPUs", "", summary + ". Peak memory in MiB, as `torch.cuda.max_memory_allocated()` reports it.", "", "| row | operator | x | GPU | published | dry run | | why | source |", "|---|---|---|---|---|---|---|---|---|"]
        lines += ["| " + " | ".join((*cells[:8], f"[figures]({cells[8]})")) + " |" for cells in table]
        pathlib.Path(arguments.page).write_text("\n".join(lines) + "\n")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
