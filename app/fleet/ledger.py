#!/usr/bin/env python3
"""What each run of a store held at its peak, in the order in which the runs began: runs may be commits, nights, releases.

    ledger.py STORE [--top N] [--json]

--top: the newest N runs, 0: all. JSON has all of them. Exit codes: 0 answered, 3 DuckDB can't be used (standard error says why), 4 the store has no
run, 5 the store can't be read (standard error says why).
"""

import argparse
import datetime
import json
import pathlib
import sys

from engine import STORE_ERRORS, Duck, plain_rows, queries, require_runs, why
from words import bytes_text, columns, counted, signed


def rows_of(engine):
    *steps, (_, last) = (queries("processes.sql") | queries("ledger.sql")).items()
    for table, query in steps:
        engine.keep(table, query)
    return plain_rows(engine, last)


def begun_text(row):
    if row["begun_ms"] is None:
        return "-"
    return datetime.datetime.fromtimestamp(row["begun_ms"] / 1000, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")


def change_text(row):
    return "-" if row["change_bytes"] is None else "0" if row["change_bytes"] == 0 else signed(row["change_bytes"])


def remarks_text(row):
    remarks = [counted(row["failures"], "failure", "failures")] if row["failures"] else []
    if row["incomplete"]:
        remarks.append(f"{row['incomplete']:,} incomplete")
    if row["unread"]:
        remarks.append(f"{row['unread']:,} unreadable")
    return ", ".join(remarks)


def cells(row):
    return [row["run"], begun_text(row), bytes_text(row["peak_bytes"]), change_text(row), bytes_text(row["pool_bytes"]), bytes_text(row["own_bytes"]), row["own"] or "-", remarks_text(row)]


def text_of(rows, top):
    shown = rows if top == 0 else rows[-top:]
    known = [row for row in rows if row["peak_bytes"] is not None]
    lines = [f"{counted(len(rows), 'run')}, the oldest first."]
    if known:
        highest = max(known, key=lambda row: row["peak_bytes"])
        lines = [f"{lines[0][:-1]}. Peaks: {bytes_text(known[0]['peak_bytes'])} in the first, {bytes_text(known[-1]['peak_bytes'])} in the last, {bytes_text(highest['peak_bytes'])} at most ({highest['run']})."]
    lines.append("")
    if len(shown) < len(rows):
        lines.append(f"  {len(rows) - len(shown):,} earlier (--top 0)")
    head = ["Run", "Begun (UTC)", "Peak", "Change", "Pool", "Largest holder", "", ""]
    return "\n".join(lines + [line.rstrip() for line in columns([head] + [cells(row) for row in shown])]) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("store", type=pathlib.Path)
    parser.add_argument("--top", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    require_runs(options.store)
    try:
        rows = rows_of(Duck(options.store))
    except STORE_ERRORS as error:
        print(f"hbmscope: {options.store} can't be read: {why(error)}", file=sys.stderr)
        sys.exit(5)
    if options.json:
        print(json.dumps({"schema": 1, "store": str(options.store), "runs": rows}, indent=2))
    else:
        sys.stdout.write(text_of(rows, max(0, options.top)))


if __name__ == "__main__":
    main()
