#!/usr/bin/env python3
"""Adds the tables of `hbmscope digest` to a store: STORE/TABLE/run=RUN/CONTENT.parquet.

    store.py TABLES STORE RUN

The name of a file is a hash of the table, so that the same digest again changes nothing. Exit codes: 0 written, 3 DuckDB
is missing, 4 it could not be written (standard error says why).
"""

import hashlib
import os
import pathlib
import sys
import urllib.parse

try:
    import duckdb
except ImportError:
    sys.exit(3)

# By name; all others are whole numbers.
TYPES = {name: "VARCHAR" for name in ("id", "at", "heap", "layer", "host", "process", "command", "device_uuid", "device_name", "file", "main_heap", "own", "stack", "own_line", "reason", "error")}
TYPES["is_complete"] = "BOOLEAN"
TYPES_OF_CURVE = {"since_start_ns": "BIGINT[]", "in_use_bytes": "BIGINT[]"}


def partition_of(run):
    """As Hive writes the value of a partition's column."""
    return "run=" + urllib.parse.quote(run, safe="")


def add(connection, table, store, run):
    columns = table.open().readline().strip().split(",")
    types = {name: (TYPES_OF_CURVE if table.stem == "curve" else {}).get(name) or TYPES.get(name, "BIGINT") for name in columns}
    target = store / table.stem / partition_of(run) / f"{hashlib.sha256(table.read_bytes()).hexdigest()[:16]}.parquet"
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    rows = connection.read_csv(str(table), header=True, columns=types, quotechar='"', escapechar='"')
    rows.write_parquet(str(partial), compression="zstd")
    os.replace(partial, target)


def main():
    tables, store, run = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    try:
        with duckdb.connect() as connection:
            for table in sorted(tables.glob("*.csv")):
                add(connection, table, store, run)
    except (duckdb.Error, OSError) as error:
        print(f"hbmscope: the store can't be written: {error}", file=sys.stderr)
        sys.exit(4)


if __name__ == "__main__":
    main()
