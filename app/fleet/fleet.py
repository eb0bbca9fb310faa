#!/usr/bin/env python3
"""Answers about a store of digests: who is unlike its peers, who failed first, what changed, how much is wasted.

    fleet.py STORE [--run NAME] [--baseline NAME] [--top N] [--engine duckdb|spark] [--json]

All questions are in sql/, in the part of SQL that DuckDB and Spark share. Exit codes: 0 answered, 3 DuckDB can't be used (standard error says why), 4
the store has no such run, 5 the store can't be read (standard error says why).
"""

import argparse
import json
import pathlib
import shlex
import sys

from engine import ENGINES, STORE_ERRORS, plain_rows, queries, require_runs, why
from words import bytes_text, columns, counted, signed


def answer(engine, run, baseline):
    engine.choose(run, baseline or "")
    for name in ("processes.sql", "ranks.sql", "outliers.sql", "stages.sql"):
        for table, query in queries(name).items():
            engine.keep(table, query)
    questions = queries("answers.sql") | (queries("changes.sql") if baseline else {})
    answers = {name: plain_rows(engine, query) for name, query in questions.items()}
    known = {row["rank"] for row in engine.rows("SELECT DISTINCT rank FROM ranks WHERE rank IS NOT NULL")}
    return answers | {"missing_ranks": sorted(set(range(max(known, default=-1) + 1)) - known)}


def place_of(row):
    rank = f"rank {row['rank']:,}" if row["rank"] is not None else pathlib.Path(row["file"]).name
    return rank + (f" on {row['host']}" if row["host"] else "")


def of_line(row):
    return row["own"] or "all lines together"


def why_unread(row):
    """The error alone: the table names the file already, and a list of all formats helps nobody here."""
    return row["error"].removeprefix(f"{row['file']}: ").partition(" hbmscope opens: ")[0]


def table(rows, top, cells):
    shown = rows if top == 0 else rows[:top]
    lines = columns([cells(row) for row in shown])
    return lines + ([f"  and {len(rows) - len(shown):,} more (--top 0)"] if len(shown) < len(rows) else [])


def text_of(answers, run, baseline, top):
    [all_of] = answers["processes"]
    lines = [f"{counted(all_of['processes'], 'process', 'processes')} on {counted(all_of['hosts'], 'host')}, run {run}. Peaks: {bytes_text(all_of['typical_peak_bytes'])} typical, {bytes_text(all_of['largest_peak_bytes'])} at most."]
    if all_of["processes"] == 0:
        lines = [f"No process of run {run} could be read."]
        return "\n".join(lines + [""] + table(answers["unread"], top, lambda row: [row["file"], why_unread(row)])) + "\n"
    peers = "at the same place of the model" if all_of["with_places"] else "that held about the same at the same lines, as no places are known (digest --layout says them)"
    lines.append(f"Peers: processes {peers}; {counted(all_of['peer_groups'], 'group')}." + (f" {counted(all_of['without_peers'], 'process has', 'processes have')} fewer than 3 peers: not compared." if all_of["without_peers"] else ""))
    if all_of["incomplete"]:
        lines.append(f"{all_of['incomplete']:,} recordings are incomplete: their peaks may be too low.")
    for name, title, cells in (
        ("hosts", "Hosts that are unlike the others, with all their processes", lambda row: [row["host"], counted(row["processes"], "process", "processes"), signed(row["more_bytes"]), of_line(row)]),
        ("stages", "Stages of the pipeline that are unlike the other inner ones", lambda row: [f"pp {row['pp']}", signed(row["bytes"] - row["typical_bytes"]), f"{bytes_text(row['bytes'])} instead of {bytes_text(row['typical_bytes'])}", of_line(row)]),
        ("outliers", "Processes that are unlike their peers", lambda row: [place_of(row), signed(row["line_bytes"] - row["typical_line_bytes"]), f"{bytes_text(row['line_bytes'])} instead of {bytes_text(row['typical_line_bytes'])}", of_line(row)]),
        ("failures", "Out of memory, the first one first", lambda row: [place_of(row), f"requested {bytes_text(row['requested_bytes'])}", f"largest free {bytes_text(row['largest_free_bytes'])}", row["own_line"] or "-"]),
        ("changes", f"What changed since run {baseline}, in a typical process", lambda row: [signed(row["more_bytes"]), f"{bytes_text(row['bytes'])} instead of {bytes_text(row['baseline_bytes'])}", row["own"]]),
        ("unread", "Files that could not be read", lambda row: [row["file"], why_unread(row)]),
    ):
        rows = answers.get(name)
        if rows is None:
            continue
        if name == "changes":
            rows = [row for row in rows if abs(row["more_bytes"]) >= 1 << 20]
        if name == "failures" and not any(row["time_ms"] is not None or row["since_start_ns"] is not None for row in rows):
            title = "Out of memory, in an unknown order"
        if rows:
            lines += ["", f"{title}: {len(rows):,}", *table(rows, top, cells)]
            if name == "outliers" and rows[0]["typical_file"]:
                lines.append(f"  Compare with a typical peer: hbmscope open {shlex.quote(rows[0]['file'])} --compare-with {shlex.quote(rows[0]['typical_file'])}")
        elif name in ("outliers", "failures", "changes"):
            lines += ["", f"{title}: none"]
    if missing := answers["missing_ranks"]:
        shown = missing if top == 0 else missing[:top]
        lines += ["", f"Ranks without a readable file: {', '.join(f'{rank:,}' for rank in shown)}" + (f" and {len(missing) - len(shown):,} more (--top 0)" if len(shown) < len(missing) else "")]
    [waste] = answers["waste"]
    if waste["pool_bytes"]:
        rounding = f", of which {bytes_text(waste['rounding_bytes'])} was rounding" if waste["rounding_bytes"] is not None else ""
        free = f", and {bytes_text(waste['free_bytes'])} free" if waste["free_bytes"] is not None else ""
        lines += ["", f"At their peaks the pools had {bytes_text(waste['pool_bytes'])}: {bytes_text(waste['in_use_bytes'])} in use{rounding}{free}."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("store", type=pathlib.Path)
    parser.add_argument("--run")
    parser.add_argument("--baseline")
    parser.add_argument("--top", type=int, default=20)
    parser.add_argument("--engine", choices=ENGINES, default="duckdb")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    require_runs(options.store)
    try:
        engine = ENGINES[options.engine](options.store)
        runs = [row["run"] for row in engine.rows("SELECT run FROM (SELECT run, begun_ms FROM rank UNION ALL SELECT run, 0 AS begun_ms FROM unread) AS known GROUP BY run ORDER BY MAX(begun_ms) DESC, run DESC")]
        run = options.run or runs[0]
        for name in filter(None, (run, options.baseline)):
            if name not in runs:
                print(f"hbmscope: {options.store} has no run {name}. It has: {', '.join(runs)}.", file=sys.stderr)
                sys.exit(4)
        answers = answer(engine, run, options.baseline)
    except STORE_ERRORS as error:
        print(f"hbmscope: {options.store} can't be read: {why(error)}", file=sys.stderr)
        sys.exit(5)
    if options.json:
        print(json.dumps({"schema": 1, "store": str(options.store), "run": run, "baseline": options.baseline, "runs": runs} | answers, indent=2))
    else:
        sys.stdout.write(text_of(answers, run, options.baseline, options.top))


if __name__ == "__main__":
    main()
