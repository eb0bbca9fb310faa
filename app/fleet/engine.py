"""The engines that answer the SQL of sql/ from a store. Importing it without DuckDB ends the program with exit code 3, after
saying why."""

import pathlib
import re
import sys

from packages import doubt_of, why_not_imported

try:
    import duckdb
except ImportError as error:
    print(f"hbmscope: stores need DuckDB, and {why_not_imported('duckdb', error)}", file=sys.stderr)
    sys.exit(3)

SQL = pathlib.Path(__file__).resolve().parent / "sql"
TABLES = ("rank", "heap", "site_at", "site", "failure", "unread")
STORE_ERRORS = (duckdb.Error, OSError)
OLD_COLUMNS = {"failure": "asked_bytes"}  # Of the first stores; now requested_bytes.


def why(error):
    """An error of a store, for a person."""
    return f"{str(error).strip()}{doubt_of('duckdb') if isinstance(error, duckdb.Error) else ''}"


def refuse_older(columns):
    """columns(table) are the names of a table's columns."""
    if any(name in columns(table) for table, name in OLD_COLUMNS.items()):
        raise OSError("an older hbmscope wrote it. Digest the files again, into a new store.")


class Duck:
    """DuckDB, in this process: the engine of one machine."""

    def __init__(self, store):
        self.connection = duckdb.connect()
        try:  # With it, DuckDB 2.0.1 loses rows where the first of each group is joined: a run's failures.
            self.connection.execute("SET disabled_optimizers = 'top_n_window_elimination'")
        except duckdb.Error:  # Version 1 doesn't have it.
            pass
        for table in TABLES:
            files = str(store / table / "*" / "*.parquet").replace("'", "''")
            self.connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{files}', hive_partitioning = true, hive_types = {{'run': VARCHAR}}, union_by_name = true)")
        refuse_older(lambda table: self.connection.table(table).columns)

    def choose(self, run, baseline):
        self.connection.execute("CREATE OR REPLACE TEMPORARY TABLE chosen AS SELECT ? AS now, ? AS baseline", [run, baseline])

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
            self.session.read.option("mergeSchema", "true").parquet(str(store / table)).createOrReplaceTempView(table)
        refuse_older(lambda table: self.session.table(table).columns)

    def choose(self, run, baseline):
        self.session.createDataFrame([(run, baseline)], "now string, baseline string").createOrReplaceTempView("chosen")

    def keep(self, name, query):
        self.session.sql(query).localCheckpoint().createOrReplaceTempView(name)  # Else each table is planned anew within the next.

    def rows(self, query):
        return [row.asDict() for row in self.session.sql(query).collect()]


ENGINES = {"duckdb": Duck, "spark": Spark}


def require_runs(store):
    if not any((store / "rank").glob("*/*.parquet")):
        print(f"hbmscope: {store} is no store with runs. Make one with hbmscope digest FILES -o STORE.", file=sys.stderr)
        sys.exit(4)


def queries(name):
    """{"outliers": "SELECT ...", ...}, in their order."""
    parts = re.split(r"^-- name: (\w+)\n", (SQL / name).read_text(), flags=re.MULTILINE)[1:]
    return {query: re.sub(r"^--.*$", "", text, flags=re.MULTILINE).strip().rstrip(";") for query, text in zip(parts[::2], parts[1::2])}


def plain(value):
    """As JSON has it: engines give sums and medians as decimals or floats."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return round(float(value))


def plain_rows(engine, query):
    return [{key: plain(value) for key, value in row.items()} for row in engine.rows(query)]
