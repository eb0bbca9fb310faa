#!/usr/bin/env python3
"""Digests files on all machines of a Ray cluster at once, into one store.

    digest_on_ray.py HBMSCOPE FILE... -o STORE --run NAME [--layout tp=N,...] [--files-each N]

A task is `hbmscope digest` of some files, on one core; --files-each: how many, 64 if not given. A folder stands for the
recordings (*.hbm) in it. All machines see HBMSCOPE, the files, the store and this Python, which has DuckDB, at the same
paths. Ray runs a task again if its machine is lost; digesting a file twice changes no answer. Without a cluster
(RAY_ADDRESS) it runs on this machine alone. Exit codes: 0 all tasks added processes, 1 some did not (standard error says
why; the store has what the others added), 3 Ray is missing.
"""

import argparse
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report to its makers that it was used.
try:
    import ray
except ImportError:
    print(f"hbmscope: {sys.executable} has no Ray. Run {sys.executable} -m pip install ray.", file=sys.stderr)
    sys.exit(3)


@ray.remote(num_cpus=1)
def digest(program, files, options):
    """What it said, if it failed."""
    done = subprocess.run([program, "digest", *files, *options, "--jobs", "1", "--python", sys.executable], stderr=subprocess.PIPE, text=True)
    return done.stderr if done.returncode != 0 else None


def files_of(path):
    return sorted(path.glob("*.hbm")) if path.is_dir() else [path]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hbmscope", type=pathlib.Path)
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--layout")
    parser.add_argument("--files-each", type=int, default=64)
    options = parser.parse_args()
    if options.files_each < 1:
        parser.error("--files-each is at least 1")
    files = [str(file.absolute()) for path in options.files for file in files_of(path)]
    if not files:
        parser.error("the folders have no recordings (*.hbm)")
    words = ["--output", str(options.output.absolute()), "--run", options.run, *(["--layout", options.layout] if options.layout else [])]
    ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    tasks = [digest.remote(str(options.hbmscope.absolute()), files[at : at + options.files_each], words) for at in range(0, len(files), options.files_each)]
    faults = [said for said in ray.get(tasks) if said is not None]
    sys.stderr.write("".join(faults))
    print(f"hbmscope: {len(files):,} files digested into run {options.run} of {options.output} by {len(tasks):,} tasks, of which {len(faults):,} failed", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
