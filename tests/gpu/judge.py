#!/usr/bin/env python3
"""Judges hbmscope on a GPU: runs each check of the table, compares its figures with its threshold, and says what holds.

    judge.py all | CHECK ...     run.sh finds the programs that it needs, and starts it

Exit code 0: everything holds that was not left out; 1: a check was missed; 2: nothing can be judged here; 3: none was missed, but
a check could not be judged.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import checks_driver
import checks_end
import checks_frameworks
import checks_running
from machine import ROOT, Machine, Missed, NotJudged, Unusable
from verdict import GPU_ONLY, HOLDS, LEFT_OUT, MISSED, NOT_JUDGED, Figures

CHECKS = [*checks_driver.CHECKS, *checks_frameworks.CHECKS, *checks_running.CHECKS, *checks_end.CHECKS]
ALWAYS = ("leftovers", "memory_back")
SECONDS_LEAST = 20  # For the start of one more check.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AT_WORST = {HOLDS: 0, LEFT_OUT: 0, GPU_ONLY: 0, MISSED: 1, NOT_JUDGED: 3}


def judge(machine, check, is_planted):
    """One row of the result."""
    begun, figures = time.monotonic(), Figures()
    row = {"check": check.name, "oracle": check.oracle, "threshold": check.threshold}
    try:
        if machine.pretend and not check.plant:
            raise NotJudged(GPU_ONLY)
        if machine.processes.seconds_left() < SECONDS_LEAST and check.name not in ALWAYS:
            raise NotJudged("there is no time left")
        check.run(machine, figures, is_planted)
        verdict, why = MISSED if figures.missed() or not figures.rows else HOLDS, figures.line() if figures.rows else "it measured nothing"
    except NotJudged as error:
        verdict, why = GPU_ONLY if str(error) == GPU_ONLY else NOT_JUDGED, str(error)
    except Missed as error:
        verdict, why = MISSED, str(error)
    except Exception as error:  # A fault of the judge must not end the other checks, and is not a success either.
        where = traceback.extract_tb(error.__traceback__)[-1]
        verdict, why = MISSED, f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
    return {**row, "verdict": verdict, "why": why, "figures": figures.rows, "seconds": round(time.monotonic() - begun, 1)}


def page_of(result):
    width = max(len(row["check"]) for row in result["checks"])
    lines = [
        f"{result['hbmscope']} on {result['device']} ({result['total_bytes'] / (1 << 30):.1f} GiB, driver {result['driver']})",
        f"{result['free_bytes_at_start'] / (1 << 30):.2f} GiB was free at the start. {result['seconds']:.0f} s. {result['summary']}",
        "",
    ]
    for row in result["checks"]:
        lines.append(f"{row['check']:{width}}  {row['verdict']:13}  {row['seconds']:5.1f} s  {row['why'] if row['why'] != row['verdict'] else ''}".rstrip())
    return "\n".join(lines) + "\n"


def choose(words, without):
    names = [check.name for check in CHECKS]
    for name in [*words, *without]:
        if name not in [*names, "all"]:
            print(f"There is no check {name}: {', '.join(names)}", file=sys.stderr)
            sys.exit(2)
    wanted = names if "all" in words else [name for name in names if name in words or name in ALWAYS]
    return [check for check in CHECKS if check.name in wanted]


def options():
    parser = argparse.ArgumentParser(description="Judges hbmscope on a GPU")
    parser.add_argument("checks", nargs="*", default=["all"], help="all, or names of checks")
    parser.add_argument("--without", action="append", default=[], metavar="CHECK", help="leave a check out")
    parser.add_argument("--pretend", action="store_true", help="on the emulated CUDA device")
    parser.add_argument("--plant", action="append", default=[], metavar="CHECK", help="disturb this check: it must miss (with --pretend)")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", ".")), help="the folder of judge.json and judge.txt")
    parser.add_argument("--minutes", type=float, default=9.5, help="checks that can't begin by then are not judged")
    parser.add_argument("--list", action="store_true", help="print the table of checks")
    given = parser.parse_args()
    if given.plant and not given.pretend:
        parser.error("--plant needs --pretend")
    return given


def run(given, checks, machine):
    begun, rows = time.monotonic(), []
    machine.free_at_start = machine.free_bytes()
    for check in checks:
        if check.name in given.without:
            rows.append({"check": check.name, "verdict": LEFT_OUT, "why": LEFT_OUT, "figures": [], "seconds": 0})
        else:
            rows.append(judge(machine, check, check.name in given.plant))
        print(f"{rows[-1]['check']}: {rows[-1]['verdict']}", file=sys.stderr, flush=True)
    counts = {verdict: [row["check"] for row in rows if row["verdict"] == verdict] for verdict in AT_WORST}
    summary = "; ".join(f"{len(names)} {verdict}" + (f" ({', '.join(names)})" if verdict != HOLDS else "") for verdict, names in counts.items() if names)
    code = 1 if counts[MISSED] else max(AT_WORST[row["verdict"]] for row in rows)
    seconds = round(time.monotonic() - begun, 1)
    result = {"schema": 1, **machine.facts, "free_bytes_at_start": machine.free_at_start, "seconds": seconds, "summary": summary, "exit_code": code, "checks": rows}
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "judge.json").write_text(json.dumps(result, indent=1) + "\n")
    (given.out / "judge.txt").write_text(page_of(result))
    print(page_of(result), end="")
    return code


def main():
    given = options()
    if given.list:
        for check in CHECKS:
            print(f"{check.name}\n  oracle     {check.oracle}\n  threshold  {check.threshold}\n  planted    {check.plant or 'only on a GPU'}")
        return 0
    checks = choose(given.checks, given.without)
    for number in SIGNALS:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="hbmscope-judge-") as folder:
        machine = Machine(Path(folder), given.minutes, given.pretend, given.build.resolve())
        try:
            machine.find()
            return run(given, checks, machine)
        except Unusable as error:
            print(f"{error} Nothing was judged.", file=sys.stderr)
            return 2
        finally:
            for number in SIGNALS:
                signal.signal(number, signal.SIG_IGN)
            machine.processes.close()


if __name__ == "__main__":
    sys.exit(main())
