#!/usr/bin/env python3
"""How fast a profile is opened and its top printed, beside `go tool pprof -top` and the floor, in one run.

Whole processes are measured, in turn, several times; medians are compared, so that a slow minute of the machine hits all
three. Before anything is timed, the three answers are compared: a fast wrong answer is none.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

RSS_MIB_MAX = 400


@dataclasses.dataclass
class Size:
    samples: int
    rounds: int
    pprof_rounds: int
    pprof_times_min: int  # pprof may take no less than this many times as long.
    floor_times_max: float  # 0: shown without a target; starting a process is most of it.


SIZES = {
    "10k": Size(10_000, 15, 5, 40, 0),
    "100k": Size(100_000, 9, 3, 50, 0),
    "1M": Size(1_000_000, 5, 2, 70, 1.5),
}


@dataclasses.dataclass
class Measured:
    seconds: list
    rss_mib: float = 0


def run(command, measured):
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    measured.seconds.append(time.perf_counter() - begin)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    measured.rss_mib = max(measured.rss_mib, usage.ru_maxrss / 1024)  # Linux counts KiB.


def find_pprof():
    """The pprof program itself, without the `go` command in front of it; None where there is none."""
    if shutil.which("go") is None:
        return None
    found = subprocess.run(["go", "tool", "-n", "pprof"], capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


def first_lines(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def check_answers(hbmscope, floor, pprof, file, threads):
    report = json.loads(first_lines([hbmscope, "report", file, "--top", "10", "--json"]))
    ours = [(row["flat_bytes"], row["cum_bytes"]) for row in report["rows"]]
    least = [tuple(int(n) for n in line.split()[:2]) for line in first_lines([floor, file, str(threads)]).splitlines()]
    if ours != least:
        sys.exit(f"{file}: hbmscope and the floor disagree:\n{ours}\n{least}")
    if pprof is None:
        return
    text = first_lines([pprof, "-symbolize=none", "-top", "-filefunctions", "-unit=b", "-sample_index=space", file])
    rows = text[text.index("flat%") :].splitlines()[1:11]
    theirs = [(int(row.split()[0].rstrip("B")), int(row.split()[3].rstrip("B"))) for row in rows]
    if ours != theirs:
        sys.exit(f"{file}: hbmscope and pprof disagree:\n{ours}\n{theirs}")


def measure(size, commands):
    measured = {name: Measured([]) for name in commands}
    for name, command in commands.items():
        if name != "pprof":
            run(command, Measured([]))  # Once for the caches, not counted.
    for i in range(size.rounds):
        for name, command in commands.items():
            if name != "pprof" or i < size.pprof_rounds:
                run(command, measured[name])
    return measured


def verdict(holds):
    return "ok" if holds else "MISSED"


def print_row(name, size, measured):
    ours = statistics.median(measured["hbmscope"].seconds)
    least = statistics.median(measured["floor"].seconds)
    rss = measured["hbmscope"].rss_mib
    passed = [size.floor_times_max == 0 or ours / least <= size.floor_times_max, rss <= RSS_MIB_MAX]
    row = f"{name:>5}  {ours * 1000:9.1f} ms  {least * 1000:9.1f} ms"
    target = f"(<= {size.floor_times_max}x {verdict(passed[0])})" if size.floor_times_max else ""
    row += f"  {ours / least:5.2f}x {target:<16}"
    row += f"  {rss:5.0f} MiB (<= {RSS_MIB_MAX} MiB {verdict(passed[1])})"
    if "pprof" in measured:
        theirs = statistics.median(measured["pprof"].seconds)
        passed.append(theirs / ours >= size.pprof_times_min)
        row += f"  {theirs * 1000:10.1f} ms  1/{theirs / ours:.0f} (<= 1/{size.pprof_times_min} {verdict(passed[2])})"
        row += f"  {measured['pprof'].rss_mib:5.0f} MiB"
    print(row, flush=True)
    return all(passed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hbmscope", required=True)
    parser.add_argument("--floor", required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where the generated profiles are kept")
    parser.add_argument("--sizes", nargs="*", choices=SIZES, default=list(SIZES))
    parser.add_argument("--without-pprof", action="store_true", help="seconds instead of minutes")
    parser.add_argument("--gate", action="store_true", help="exit with 1 where a target is missed")
    arguments = parser.parse_args()

    threads = min(os.cpu_count() or 1, 8)  # As many as hbmscope's reader takes.
    pprof = None if arguments.without_pprof else find_pprof()
    if pprof is None:
        print("without pprof" if arguments.without_pprof else "no `go tool pprof` here (Debian: golang-go): not compared")
    else:
        print(f"peer: {first_lines(['go', 'version']).strip()}, {pprof} -top FILE")
    print(f"floor: inflate, decode to columns, add up; {threads} threads, as hbmscope report FILE --top 30")
    head = "           hbmscope         floor  hbmscope / floor         peak memory of it    "
    print(head + ("        pprof  hbmscope / pprof    its peak" if pprof else ""), flush=True)
    passed = True
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.sizes:
        size = SIZES[name]
        file = str(arguments.folder / f"{name}.pprof.gz")
        first_lines([arguments.generator, str(size.samples), file])
        check_answers(arguments.hbmscope, arguments.floor, pprof, file, threads)
        commands = {
            "hbmscope": [arguments.hbmscope, "report", file, "--top", "30"],
            "floor": [arguments.floor, file, str(threads)],
        }
        if pprof is not None:
            commands["pprof"] = [pprof, "-top", "-sample_index=space", file]
        passed = print_row(name, size, measure(size, commands)) and passed
    sys.exit(1 if arguments.gate and not passed else 0)


if __name__ == "__main__":
    main()
