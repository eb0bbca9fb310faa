#!/usr/bin/env python3
"""What a storm of launches, driver calls, forks or programs costs under hbmscope run, beside the same without it, on the
emulated driver; and that nothing is lost and nobody dies of it.

    tests/bench/storms.py HBMSCOPE STORM_PROGRAM EMULATED_DRIVER FAKE_CUPTI [LAUNCHES]
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 5


def main():
    hbmscope, program, drivers, cupti = sys.argv[1:5]
    launches = int(sys.argv[5]) if len(sys.argv) > 5 else 1_000_000
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{drivers}/bound:{cupti}/12", HBMSCOPE_DEVICE_CUDA="12090")
    failed = False
    print(f"{'':10} {'count':>9} {'bare':>12} {'interpose':>12} {'':>8} {'cupti':>12} {'':>8}   nanoseconds each")
    for what, count in (("launches", launches), ("calls", launches // 10), ("forks", launches // 1000), ("execs", launches // 1000)):
        costs = {"bare": [], "interpose": [], "cupti": []}
        for _ in range(ROUNDS):
            for how, all_costs in costs.items():
                with tempfile.TemporaryDirectory() as folder:
                    recording = os.path.join(folder, "storm.hbm")
                    observed = [hbmscope, "run", "--no-window", "--no-flight", "--backend", how, "--record", recording, "--"] if how != "bare" else []
                    done = subprocess.run([*observed, program, what, str(count)], capture_output=True, text=True, env=environment)
                    if done.returncode != 0:
                        sys.exit(f"{what} {how}: exit code {done.returncode}: {done.stderr}")
                    all_costs.append(float(done.stdout))
                    if observed:
                        failed |= not is_complete(hbmscope, recording, what, count)
        bare, *others = (statistics.median(each) for each in costs.values())
        print(f"{what:10} {count:9,} {bare:12.1f}" + "".join(f" {cost:12.1f} {cost / bare:7.2f}x" for cost in others))
    sys.exit(1 if failed else 0)


def is_complete(hbmscope, recording, what, count):
    report = subprocess.run([hbmscope, "report", recording, "--json"], capture_output=True, text=True, check=True)
    events = json.loads(report.stdout)["events"]
    pairs = 1 + (count if what in ("calls", "forks") else 0)
    found = (events["alloc"], events["free"], events["lost"])
    if found != (pairs, pairs, 0):
        print(f"{what}: {pairs} allocations and frees, but the recording has {found[0]} and {found[1]}, and {found[2]} are lost")
    return found == (pairs, pairs, 0)


if __name__ == "__main__":
    main()
