#!/usr/bin/env python3
"""Digests files on all machines of a Ray cluster at once, into one store.

    digest_on_ray.py HBMSCOPE FILE... -o STORE --run NAME [--layout tp=N,...] [--files-each N]

A task is `hbmscope digest` of some files, on one core; --files-each: how many, 64 if not given. A folder stands for the
recordings (*.hbm) in it. All machines see HBMSCOPE, the files, the store and this Python, which has DuckDB, at the same
paths. Ray runs a task again if its machine is lost; digesting a file twice changes no answer. Without a cluster
(RAY_ADDRESS) it runs on this machine alone. Exit codes: 0 all tasks added processes, 1 some did not (standard error says
why; the store has what the others added), 2 wrong usage, 3 Ray is missing.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

from words import counted

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report to its makers that it was used.
try:
    import ray
except ImportError:
    print(f"hbmscope: {sys.executable} has no Ray. Run {sys.executable} -m pip install ray.", file=sys.stderr)
    sys.exit(3)


@ray.remote(num_cpus=1)
def digest(program, files, options):
    """Its exit code, and what it said."""
    done = subprocess.run([program, "digest", *files, *options, "--jobs", "1", "--python", sys.executable], stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


def outcome_of(task, files):
    """How many of the files it digested, and why it failed, if it did."""
    try:
        exit_code, said = ray.get(task)
    except ray.exceptions.RayError as error:  # Its machine is lost, or it can't run the program.
        why = str(getattr(error, "cause", None) or error).strip().partition("\n")[0]
        return 0, f"hbmscope: {counted(len(files), 'file')} from {files[0]} on may be missing: {why}\n"
    unread = re.search(r"^hbmscope: ([\d,]+) files? could not be read", said, flags=re.MULTILINE)
    digested = len(files) - int(unread[1].replace(",", "")) if unread else len(files) if exit_code == 0 else 0
    if exit_code == 0:
        return digested, None
    return digested, said or f"hbmscope: the digest of {counted(len(files), 'file')} from {files[0]} on ended with exit code {exit_code}\n"  # -9: it was killed.


def files_of(path):
    return sorted(path.glob("*.hbm")) if path.is_dir() else [path]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hbmscope")
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--layout")
    parser.add_argument("--files-each", type=int, default=64)
    options = parser.parse_args()
    if options.files_each < 1:
        parser.error("--files-each is at least 1")
    program = shutil.which(options.hbmscope)
    if program is None:
        parser.error(f"{options.hbmscope} is no program")
    files = [str(file.absolute()) for path in options.files for file in files_of(path)]
    if not files:
        parser.error("the folders have no recordings (*.hbm)")
    words = ["--output", str(options.output.absolute()), "--run", options.run, *(["--layout", options.layout] if options.layout else [])]
    ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    parts = [files[at : at + options.files_each] for at in range(0, len(files), options.files_each)]
    tasks = [digest.remote(str(pathlib.Path(program).absolute()), part, words) for part in parts]
    outcomes = [outcome_of(*one) for one in zip(tasks, parts)]
    faults = [fault for _, fault in outcomes if fault is not None]
    sys.stderr.write("".join(faults))
    digested = sum(count for count, _ in outcomes)
    print(f"hbmscope: {digested:,} of {counted(len(files), 'file')} digested into run {options.run} of {options.output} by {counted(len(tasks), 'task')}, of which {len(faults):,} failed", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
