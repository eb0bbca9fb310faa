#!/usr/bin/env python3
"""JAX's arrays on a plugin whose allocator hbmscope does not see (a CPU plugin of PJRT, and so TPUs), as it records them,
against jax.live_arrays() at many quiet points.

    tests/real/arrays_test.py HBMSCOPE PYTHON POINTS
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import pool_test

HERE = pathlib.Path(__file__).resolve().parent


def main(hbmscope, python, points):
    where = "import lammps_jax_pjrt_cpu as found; print(found.__path__[0])"
    plugin = subprocess.run([python, "-c", where], check=True, capture_output=True, text=True).stdout.strip() + "/pjrt_c_api_cpu_plugin.so"
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder) / "job.hbm"
        command = [hbmscope, "run", "--no-window", "--no-flight", "--record", recording, "--", python, HERE / "arrays_jax.py", points, plugin]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        marks = {mark["mark"]: mark for mark in map(json.loads, done.stdout.splitlines())}
        live, failed, names = {}, 0, 0
        for event in pool_test.events_of(hbmscope, recording):
            size = int(event["size_bytes"] or 0)
            if event["kind"] == "alloc" and size in marks:
                mark = marks.pop(size)
                if (sum(live.values()), len(live)) != (mark["bytes"], mark["count"]):
                    failed += 1
                    print(f"{sum(live.values())} B in {len(live)} arrays, JAX says {mark['bytes']} B in {mark['count']}")
            if event["kind"] == "alloc":
                live[event["allocation_event"]] = size
            elif event["kind"] == "free":
                del live[event["allocation_event"]]
            elif event["kind"] == "attribute":
                names += 1
    print(f"{points} points, {failed} failed, {len(marks)} without a mark, {names} names")
    sys.exit(1 if failed or marks or names == 0 else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
