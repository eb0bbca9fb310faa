#!/usr/bin/env python3
"""`export --to parquet` from outside.

    tests/cli/parquet_test.py HBMSCOPE

How it speaks of a Python, a pyarrow or a file that is not there; and, where this Python or the one that
HBMSCOPE_PYARROW_PYTHON names has pyarrow, every value of the file beside the CSV of the same trace.
"""
import csv
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = [ROOT / "samples" / "fragments.hbm", ROOT / "tests" / "cli" / "inputs" / "steps_rmm.csv"]
READ_BACK = """
import json, sys
import pyarrow.parquet as parquet
table = parquet.read_table(sys.argv[1])
print(json.dumps({"types": {f.name: str(f.type) for f in table.schema}, "columns": {n: table.column(n).to_pylist() for n in table.column_names}}))
"""
faults = []


def check(holds, what):
    if not holds:
        faults.append(what)


def export(*words, **variables):
    return subprocess.run([PROGRAM, "export", *map(str, words)], capture_output=True, text=True, env={**os.environ, **variables})


def test_words(folder):
    out = folder / "kept.parquet"
    out.write_text("an older one")
    check("Parquet can't be written to standard output" in export(SAMPLES[0], "--to", "parquet").stderr, "without a file")
    check("needs --to parquet" in export(SAMPLES[0], "--to", "csv", "--python", "x").stderr, "--python elsewhere")
    check("no events" in export(ROOT / "samples" / "arrays.pprof.gz", "--to", "parquet", "-o", out).stderr, "a profile")
    done = export(SAMPLES[0], "--to", "parquet", "-o", out, "--python", "/no/python")
    check(done.returncode != 0 and "cannot start" in done.stderr, f"no Python: {done.stderr}")
    # One in the way of a real pyarrow.
    (folder / "pyarrow.py").write_text("raise ImportError('none here')")
    done = export(SAMPLES[0], "--to", "parquet", "-o", out, "--python", sys.executable, PYTHONPATH=str(folder))
    check(done.returncode != 0 and "has no pyarrow that works" in done.stderr and "can't be imported: none here" in done.stderr, f"a broken pyarrow: {done.stderr}")
    bare = folder / "bare_python"
    bare.write_text(f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n")
    bare.chmod(0o755)
    done = export(SAMPLES[0], "--to", "parquet", "-o", out, "--python", str(bare))
    check(done.returncode != 0 and f"{bare}' has no pyarrow, which is needed" in done.stderr and "pip install pyarrow" in done.stderr, f"no pyarrow: {done.stderr}")
    check("Traceback" not in done.stderr and "No module" not in done.stderr, f"one message: {done.stderr}")
    check(out.read_text() == "an older one" and not list(folder.glob("*.partial")), "what a failure leaves")
    (folder / "pyarrow.py").unlink()


def as_csv_has_it(name, value):
    if value is None:
        return ""
    return hex(value) if name in ("address", "handle") else str(value)


def test_values(folder, python):
    for sample in SAMPLES:
        for what in ("events", "blocks"):
            out = folder / f"{what}.parquet"
            done = export(sample, "--to", "parquet", "--what", what, "-o", out, "--python", python)
            check(done.returncode == 0, f"{sample.name} {what}: {done.stderr}")
            answer = json.loads(subprocess.run([python, "-c", READ_BACK, out], capture_output=True, text=True, check=True).stdout)
            rows = list(csv.DictReader(export(sample, "--to", "csv", "--what", what).stdout.splitlines()))
            columns = answer["columns"]
            check(list(columns) == list(rows[0]), f"{sample.name} {what}: columns")
            for name in columns:
                expected = [row[name] for row in rows]
                check([as_csv_has_it(name, value) for value in columns[name]] == expected, f"{sample.name} {what}: {name}")
            check(answer["types"]["size_bytes"] == "uint64" and answer["types"]["address"] == "uint64", f"types: {answer['types']}")
    out = folder / "empty.parquet"
    check(export(SAMPLES[0], "--to", "parquet", "--at", "start", "-o", out, "--python", python).returncode == 0, "a trace without a row")
    answer = json.loads(subprocess.run([python, "-c", READ_BACK, out], capture_output=True, text=True, check=True).stdout)
    check(answer["columns"]["kind"] == [], "no rows, all columns")
    done = export(SAMPLES[0], "--to", "parquet", "-o", folder / "no" / "folder.parquet", "--python", python)
    check(done.returncode != 0 and "Python exited with code 4" in done.stderr, f"no folder: {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        test_words(folder)
        python = os.environ.get("HBMSCOPE_PYARROW_PYTHON", sys.executable if importlib.util.find_spec("pyarrow") else None)
        if python:
            test_values(folder, python)
        else:
            print("no Python with pyarrow: values were not read back (HBMSCOPE_PYARROW_PYTHON names one)")
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


main()
