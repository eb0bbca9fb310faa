#!/usr/bin/env python3
"""Answers about a store of digests: who is unlike its peers, who failed first, what changed, how much is wasted.

    fleet.py STORE [--run NAME] [--baseline NAME] [--top N] [--engine duckdb|spark] [--json]

All questions are in sql/, in the part of SQL that DuckDB and Spark share. Exit codes: 0 answered, 3 DuckDB is missing, 4
the store has no such run, 5 the store can't be read (standard error says why).
"""

import argparse
import json
import pathlib
import re
import shlex
import sys

try:
    import duckdb
except ImportError:
    sys.exit(3)

SQL = pathlib.Path(__file__).resolve().parent / "sql"
TABLES = ("rank", "heap", "site_at", "site", "failure", "unread")


class Duck:
    """DuckDB, in this process: the engine of one machine."""

    def __init__(self, store):
        self.connection = duckdb.connect()
        for table in TABLES:
            files = str(store / table / "*" / "*.parquet").replace("'", "''")
            self.connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{files}', hive_partitioning = true, hive_types = {{'run': VARCHAR}}, union_by_name = true)")

    def keep(self, name, query):
        self.connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE {name} AS {query}")

    def rows(self, query):
        found = self.connection.execute(query)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row)) for row in found.fetchall()]


class Spark:
    """The same questions on Spark, for a store that one machine can't hold; here its local mode is the default."""

    def __init__(self, store):
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.appName("hbmscope fleet")
        # Names of runs are texts; tables are small.
        for name, value in (("spark.sql.sources.partitionColumnTypeInference.enabled", "false"), ("spark.sql.shuffle.partitions", "8"), ("spark.ui.enabled", "false")):
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        for table in TABLES:
            self.session.read.parquet(str(store / table)).createOrReplaceTempView(table)

    def keep(self, name, query):
        self.session.sql(query).localCheckpoint().createOrReplaceTempView(name)  # Else each table is planned anew within the next.

    def rows(self, query):
        return [row.asDict() for row in self.session.sql(query).collect()]


ENGINES = {"duckdb": Duck, "spark": Spark}


def queries(name):
    """{"outliers": "SELECT ...", ...}, in their order."""
    parts = re.split(r"^-- name: (\w+)\n", (SQL / name).read_text(), flags=re.MULTILINE)[1:]
    return {query: re.sub(r"^--.*$", "", text, flags=re.MULTILINE).strip().rstrip(";") for query, text in zip(parts[::2], parts[1::2])}


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def plain(value):
    """As JSON has it: engines give sums and medians as decimals or floats."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return round(float(value))


def answer(engine, run, baseline):
    engine.keep("chosen", f"SELECT {quoted(run)} AS now, {quoted(baseline or '')} AS baseline")
    for name in ("ranks.sql", "outliers.sql", "stages.sql"):
        for table, query in queries(name).items():
            engine.keep(table, query)
    asked = queries("answers.sql") | (queries("changes.sql") if baseline else {})
    return {name: [{key: plain(value) for key, value in row.items()} for row in engine.rows(query)] for name, query in asked.items()}


def bytes_text(count):
    if count is None:
        return "-"
    value, unit = float(abs(count)), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if value < 999.5 and not (value >= 1000):
            break
        value, unit = value / 1024, larger
    digits = f"{value:.0f}" if unit == "B" or value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
    return f"{'-' if count < 0 else ''}{digits} {unit}"


def counted(count, one, many=None):
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def signed(count):
    return ("+" if count > 0 else "") + bytes_text(count)


def place_of(row):
    rank = f"rank {row['rank']:,}" if row["rank"] is not None else pathlib.Path(row["file"]).name
    return rank + (f" on {row['host']}" if row["host"] else "")


def of_line(row):
    return row["own"] or "all lines together"


def columns(rows):
    """Rows of texts, each column as wide as its widest; the last one is left alone."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  " + "  ".join(cell.ljust(width) if at < len(row) - 1 else cell for at, (cell, width) in enumerate(zip(row, widths))) for row in rows]


def table(rows, top, cells):
    shown = rows if top == 0 else rows[:top]
    lines = columns([cells(row) for row in shown])
    return lines + ([f"  and {len(rows) - len(shown):,} more (--top 0)"] if len(shown) < len(rows) else [])


def text_of(answers, run, baseline, top):
    [all_of] = answers["processes"]
    lines = [f"{counted(all_of['processes'], 'process', 'processes')} on {counted(all_of['hosts'], 'host')}, run {run}. Peaks: {bytes_text(all_of['typical_peak_bytes'])} typical, {bytes_text(all_of['largest_peak_bytes'])} at most."]
    if all_of["processes"] == 0:
        lines = [f"No process of run {run} could be read."]
        return "\n".join(lines + [""] + table(answers["unread"], top, lambda row: [row["file"], row["error"]])) + "\n"
    peers = "at the same place of the model" if all_of["with_places"] else "that held about the same at the same lines, as no places are known (digest --layout)"
    lines.append(f"Peers: processes {peers}; {counted(all_of['peer_groups'], 'group')}." + (f" {all_of['without_peers']:,} processes have fewer than 3 peers and are not compared." if all_of["without_peers"] else ""))
    if all_of["incomplete"]:
        lines.append(f"{all_of['incomplete']:,} recordings are incomplete: their peaks may be too low.")
    for name, title, cells in (
        ("hosts", "Hosts that are unlike the others, with all their processes", lambda row: [row["host"], counted(row["processes"], "process", "processes"), signed(row["more_bytes"]), of_line(row)]),
        ("stages", "Stages of the pipeline that are unlike the other inner ones", lambda row: [f"pp {row['pp']}", signed(row["bytes"] - row["typical_bytes"]), f"{bytes_text(row['bytes'])} instead of {bytes_text(row['typical_bytes'])}", of_line(row)]),
        ("outliers", "Processes that are unlike their peers", lambda row: [place_of(row), signed(row["line_bytes"] - row["typical_line_bytes"]), f"{bytes_text(row['line_bytes'])} instead of {bytes_text(row['typical_line_bytes'])}", of_line(row)]),
        ("failures", "Out of memory, the first one first", lambda row: [place_of(row), f"requested {bytes_text(row['asked_bytes'])}", f"largest free {bytes_text(row['largest_free_bytes'])}", row["own_line"] or "-"]),
        ("changes", f"What changed since run {baseline}, in a typical process", lambda row: [signed(row["more_bytes"]), f"{bytes_text(row['bytes'])} instead of {bytes_text(row['baseline_bytes'])}", row["own"]]),
        ("unread", "Files that could not be read", lambda row: [row["file"], row["error"]]),
    ):
        rows = answers.get(name)
        if rows is None:
            continue
        if name == "changes":
            rows = [row for row in rows if abs(row["more_bytes"]) >= 1 << 20]
        if rows:
            lines += ["", f"{title}: {len(rows):,}", *table(rows, top, cells)]
            if name == "outliers" and rows[0]["typical_file"]:
                lines.append(f"  Beside a typical peer: hbmscope open {shlex.quote(rows[0]['file'])} --compare-with {shlex.quote(rows[0]['typical_file'])}")
        elif name in ("outliers", "failures", "changes"):
            lines += ["", f"{title}: none"]
    [waste] = answers["waste"]
    if waste["pool_bytes"]:
        lines += ["", f"At their peaks the pools had {bytes_text(waste['pool_bytes'])}: {bytes_text(waste['in_use_bytes'])} in use, of which {bytes_text(waste['rounding_bytes'])} was rounding, and {bytes_text(waste['free_bytes'])} free."]
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
    if not any((options.store / "rank").glob("*/*.parquet")):
        print(f"hbmscope: {options.store} is no store with runs. Make one with hbmscope digest FILES -o STORE.", file=sys.stderr)
        sys.exit(4)
    try:
        engine = ENGINES[options.engine](options.store)
        runs = [row["run"] for row in engine.rows("SELECT run FROM (SELECT run, begun_ms FROM rank UNION ALL SELECT run, 0 AS begun_ms FROM unread) AS known GROUP BY run ORDER BY MAX(begun_ms) DESC, run DESC")]
        run = options.run or runs[0]
        for name in filter(None, (run, options.baseline)):
            if name not in runs:
                print(f"hbmscope: {options.store} has no run {name}. It has: {', '.join(runs)}.", file=sys.stderr)
                sys.exit(4)
        answers = answer(engine, run, options.baseline)
    except (duckdb.Error, OSError) as error:
        print(f"hbmscope: {options.store} can't be read: {error}", file=sys.stderr)
        sys.exit(5)
    if options.json:
        print(json.dumps({"store": str(options.store), "run": run, "baseline": options.baseline, "runs": runs} | answers, indent=2))
    else:
        sys.stdout.write(text_of(answers, run, options.baseline, options.top))


if __name__ == "__main__":
    main()
