#!/usr/bin/env python3
"""Adds the tables of `hbmscope digest` to a store: STORE/TABLE/run=RUN/CONTENT.parquet.

    store.py TABLES STORE RUN

The name of a file is a hash of the table. Of several digests of a process the last one counts. Exit codes: 0 written, 3 DuckDB
can't be used (standard error says why), 4 it could not be written, or an older hbmscope wrote it (standard error says why).
"""

import hashlib
import os
import pathlib
import sys
import urllib.parse

from engine import STORE_ERRORS, duckdb, refuse_older, why

# By name; all others are whole numbers.
TYPES = {name: "VARCHAR" for name in ("id", "at", "heap", "layer", "host", "process", "command", "device_uuid", "device_name", "file", "main_heap", "own", "stack", "own_line", "reason", "error")}
TYPES["is_complete"] = "BOOLEAN"
TYPES_OF_CURVE = {"since_start_ns": "BIGINT[]", "in_use_bytes": "BIGINT[]"}
LONGEST_LINE = 64 << 20


def partition_of(run):
    """As Hive writes the value of a partition's column."""
    return "run=" + urllib.parse.quote(run, safe="")


def columns(connection, store, table):
    """Of one file of each run: to read all would take each of thousands of jobs longer than the one before."""
    files = [next(run.glob("*.parquet"), None) for run in (store / table).glob("run=*")]
    known = [str(file) for file in files if file]
    return connection.read_parquet(known, union_by_name=True).columns if known else []


def write(connection, table, store, run):
    """Writes the table to a file that readers pass over, and returns it with its final name."""
    columns = table.open().readline().strip().split(",")
    types = {name: (TYPES_OF_CURVE if table.stem == "curve" else {}).get(name) or TYPES.get(name, "BIGINT") for name in columns}
    target = store / table.stem / partition_of(run) / f"{hashlib.sha256(table.read_bytes()).hexdigest()[:16]}.parquet"
    target.parent.mkdir(parents=True, exist_ok=True)
    # Many processes may write to one store at once, and some tables of theirs are the same.
    hidden = target.parent / f".{target.stem}.{os.getpid()}.{os.urandom(4).hex()}"
    # Nothing is guessed from the content.
    rows = f"SELECT * FROM read_csv(?, auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', new_line = '\\n', max_line_size = {LONGEST_LINE}, columns = {types!r})"
    connection.execute(f"COPY ({rows}) TO '{str(hidden).replace(chr(39), chr(39) * 2)}' (FORMAT parquet, COMPRESSION zstd)", [str(table)])
    return hidden, target


def main():
    tables, store, run = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    written = []
    try:
        with duckdb.connect() as connection:
            refuse_older(lambda table: columns(connection, store, table))
            # A process is in the store once its row in `rank` is.
            for table in sorted(tables.glob("*.csv"), key=lambda table: table.stem == "rank"):
                written.append(write(connection, table, store, run))
        for hidden, target in written:
            os.replace(hidden, target)
    except STORE_ERRORS as error:
        for hidden, _ in written:
            hidden.unlink(missing_ok=True)
        print(f"hbmscope: {store} can't be written: {why(error).splitlines()[0]}", file=sys.stderr)
        sys.exit(4)


if __name__ == "__main__":
    main()
