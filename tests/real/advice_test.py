#!/usr/bin/env python3
"""What a replay says of a setting holds with the real framework: the request that failed is then served, or still fails.

    tests/real/advice_test.py HBMSCOPE PYTHON jax|torch
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
DEVICE_MIB, CONTEXT = 3072, 502 * MIB  # As the emulated device assumes of a context.
# Seed, kind, share of the device, variables.
JOBS = {
    "jax": [(1, "grows", 0.78, {}), (2, "grows", 0.80, {}), (3, "grows", 0.70, {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".6"}),
            (4, "holes", 0.72, {}), (5, "holes", 0.55, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_PYTHON_CLIENT_MEM_FRACTION": ".6"})],
    "torch": [(seed, "grows", share, {}) for seed, share in ((1, 0.80), (2, 0.82), (3, 0.81), (6, 0.82), (7, 0.82), (8, 0.82))],
}


def run(hbmscope, python, framework, job, variables, recording):
    seed, kind, share, own = job
    command = [hbmscope, "run", "--emulate", "h100", "--device-bytes", f"{DEVICE_MIB}MiB", "--no-window", "--no-flight", "--record", recording]
    command += ["--", python, HERE / "advised_job.py", framework, str(seed), kind, str(share)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "ADVISED_DEVICE_MIB": str(DEVICE_MIB), **own, **variables}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    [answer] = [line.split() for line in done.stdout.splitlines() if line.startswith(("all ", "refused "))]
    return answer[0] == "all", int(answer[1])


def explain(hbmscope, recording):
    done = subprocess.run([hbmscope, "explain", recording, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["failures"][0]


def check_budget(failure, outside):
    """All memory of the device, in parts: what the pool doesn't have and isn't free are the contexts, and other processes."""
    budget = failure["device_budget"]
    parts = {part["part"]: part["bytes"] for part in budget["parts"]}
    assert budget["total_bytes"] == DEVICE_MIB * MIB == sum(parts.values()) and budget["over_bytes"] == 0, budget
    assert parts["requested"] + parts["rounding"] == failure["used_bytes"], (parts, failure["used_bytes"])
    assert parts.get("pool_free", 0) == failure["total_free_bytes"], (parts, failure["total_free_bytes"])
    # The driver hands out whole pages of 2 MiB.
    assert 0 <= parts["unseen"] + parts.get("outside", 0) - outside < 2 * MIB, (parts, outside)


def variables_of(change):
    return dict(word.split("=", 1) for word in change.split(" "))


def main():
    hbmscope, python, framework = sys.argv[1:4]
    followed = 0
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder, "job.hbm")
        for job in JOBS[framework]:
            is_all, served = run(hbmscope, python, framework, job, {}, recording)
            assert not is_all, f"{job} did not fail"
            failure = explain(hbmscope, recording)
            check_budget(failure, CONTEXT)
            print(job, failure["verdict"], f"after {served} arrays:", [(one["change"], one["proof"]) for one in failure["advice"]], flush=True)
            for one in failure["advice"]:
                if one["proof"] != "replayed":
                    continue
                is_all, now = run(hbmscope, python, framework, job, variables_of(one["change"]), pathlib.Path(folder, "again.hbm"))
                print(f"    {one['change']}: {now} arrays{', all it wanted' if is_all else ''}", flush=True)
                assert (now > served) == one["fits"], f"a replay said {one['fits']}"
                followed += one["fits"]
        run(hbmscope, python, framework, (1, "neighbour", 0.8, {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"}), {}, recording)
        check_budget(explain(hbmscope, recording), 2 * CONTEXT + 300 * MIB)
    assert followed >= 4, followed


if __name__ == "__main__":
    main()
