#!/usr/bin/env python3
"""`hbmscope report --json` as a person calls it, beside `go tool pprof -top` and beside sums over the bare bytes.

    report_vs_pprof.py HBMSCOPE FILE_OR_FOLDER...

Every sample and real profile: each row's flat and cumulative bytes must be pprof's, and the totals by device and kind
must be what a decoder of forty lines adds up. Exits with 1 and says what differs; 77 (skipped) without pprof.
"""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys

VARIANTS = (
    [],
    ["--by", "line"],
    ["--focus", "train|main"],
    ["--ignore", "compile"],
    ["--hide", "site-packages|dist-packages"],
    ["--show", "jit|call"],
)
TO_PPROF = {"--focus": "-focus=", "--ignore": "-ignore=", "--hide": "-hide=", "--show": "-show="}


def fields(message):
    """(number, value) of a protobuf message; value is an int or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            length = varint()
            at += length
            yield tag >> 3, message[at - length : at]


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def packed(message):
    value = shift = 0
    for byte in message:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield signed(value)
            value = shift = 0


def sums_by(path, key):
    """{label text or None: [bytes, count, executables of unknown size]}"""
    data = path.read_bytes()
    message = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    texts = [value.decode() for number, value in fields(message) if number == 6]
    sums = {}
    for number, sample in fields(message):
        if number != 2:
            continue
        labels, values = {}, []
        for part, value in fields(sample):
            if part == 2:
                values += list(packed(value)) if isinstance(value, bytes) else [signed(value)]
            if part == 3:
                label = dict(fields(value))
                labels.setdefault(texts[label.get(1, 0)], texts[label.get(2, 0)])
        row = sums.setdefault(labels.get(key) or None, [0, 0, 0])  # An empty name is none.
        if values[1] < 0 and labels.get("kind") == "executable":
            row[2] += values[0]
        else:
            row[0] += values[1]
            row[1] += values[0]
    return sums


def report_rows(hbmscope, path, options):
    output = subprocess.run([hbmscope, "report", path, "--top", "0", "--json", *options], capture_output=True, text=True)
    if output.returncode != 0:
        sys.exit(f"hbmscope report {path} ended with {output.returncode}: {output.stderr}")
    return json.loads(output.stdout)


def pprof_rows(path, options):
    """{name: (flat, cum)} as pprof prints it, its -1 of executables of unknown size included."""
    words = ["go", "tool", "pprof", "-symbolize=none", "-top", "-unit=b", "-nodecount=0", "-nodefraction=0"]
    words += ["-edgefraction=0", "-sample_index=space", "-lines" if options[:1] == ["--by"] else "-filefunctions"]
    if options and options[0] in TO_PPROF:
        words.append(TO_PPROF[options[0]] + options[1])
    output = subprocess.run([*words, path], capture_output=True, text=True)
    if output.returncode != 0:
        sys.exit(f"pprof refuses {path}: {output.stderr}")
    rows = {}
    for line in output.stdout[output.stdout.index("flat%") :].splitlines()[1:]:
        flat, _, _, cum, _, name = line.split(maxsplit=5)
        rows[name] = (int(flat.rstrip("B")), int(cum.rstrip("B")))
    return rows


def our_rows(report):
    rows = {}
    for row in report["rows"]:
        name = row["name"]
        if row["file"]:
            name += " " + os.path.normpath(row["file"])
        if report["by"] == "line" and row["line"]:
            name += f":{row['line']}"
        flat = row["flat_bytes"] - row["flat_unknown_count"]
        cum = row["cum_bytes"] - row["cum_unknown_count"]
        if (flat, cum) != (0, 0):  # pprof leaves these out.
            rows[name] = (flat, cum)
    return rows


def differences(path, hbmscope):
    for key in ("device", "kind"):
        report = report_rows(hbmscope, path, [])
        ours = {row[key]: [row["bytes"], row["count"], row["unknown_count"]] for row in report[f"by_{key}"]}
        theirs = sums_by(path, key)
        if ours != theirs:
            yield f"by {key}: {ours} is not {theirs}"
        total = next(total["value"] for total in report["totals"] if total["type"] == "space")
        if total != sum(row[0] for row in theirs.values()):
            yield f"the total of space is {total}"
        if report["unknown_size"]["count"] != sum(row[2] for row in theirs.values()):
            yield f"unknown sizes: {report['unknown_size']}"
    for options in VARIANTS:
        ours, theirs = our_rows(report_rows(hbmscope, path, options)), pprof_rows(path, options)
        for name in sorted(ours.keys() | theirs.keys()):
            if ours.get(name) != theirs.get(name):
                yield f"{' '.join(options)} {name}: hbmscope {ours.get(name)}, pprof {theirs.get(name)}"


def profiles(arguments):
    for argument in map(pathlib.Path, arguments):
        if argument.is_dir():
            yield from sorted(path for path in argument.iterdir() if path.name.endswith((".prof", ".pprof.gz")))


def main():
    hbmscope, folders = sys.argv[1], sys.argv[2:]
    if shutil.which("go") is None or subprocess.run(["go", "tool", "-n", "pprof"], capture_output=True).returncode != 0:
        print("skipped: no `go tool pprof` on this machine (Debian: golang-go)")
        sys.exit(77)
    data = pathlib.Path(os.environ.get("HBMSCOPE_DATA", pathlib.Path(__file__).parents[3] / "shared/data"))
    if not data.is_dir():
        print(f"only the samples: no real profiles in {data}; HBMSCOPE_DATA names the folder that has them")
    compared = failed = 0
    for path in profiles([*folders, data / "pprof", data / "jax"]):
        compared += 1
        for difference in differences(path, hbmscope):
            failed += 1
            print(f"{path.name}: {difference}")
    print(f"{compared} profiles, {len(VARIANTS)} reports each: {failed} differences")
    sys.exit(1 if failed or not compared else 0)


if __name__ == "__main__":
    main()
