#!/usr/bin/env python3
"""Names, categories, holders and steps of a real job, and that its output is the same without hbmscope.

    agent_test.py HBMSCOPE PYTHON agent_jax.py|agent_torch.py [started]     started: by hbmscope.start() in the job
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import emulated

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = {
    "agent_jax.py": {"params['w']": "parameters", "moments['w']": "optimizer state", "batch": "inputs", "history[*]": None},
    "agent_torch.py": {"model.*.weight": "parameters", "model.*.weight.grad": "gradients", "batch": "inputs",
                       "optimizer.state['model.*.weight'].exp_avg": "optimizer state", "history[*]": None},
}
STEPS = {"agent_jax.py": ("step (jit_step)", 28), "agent_torch.py": ("step (AdamW)", 30)}


def environment(hbmscope):
    env = emulated.environment(str(pathlib.Path(hbmscope).parent.parent / "emulated"))
    env.update(HBMSCOPE_DEVICE_BYTES=str(4 << 30), XLA_FLAGS="--xla_gpu_autotune_level=0",
               PYTHONPATH=os.pathsep.join([str(HERE.parents[1] / "collector" / "agent"), env.get("PYTHONPATH", "")]),
               PATH=os.pathsep.join([str(pathlib.Path(hbmscope).parent), env["PATH"]]))
    return env


def run(command, env):
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done


def main(hbmscope, python, job, *how):
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "r.hbm")
        env = environment(hbmscope)
        env["XDG_STATE_HOME"] = folder
        command = [python, str(HERE / job)]
        bare = run(command, env)
        if "started" in how:
            seen = run(command + [recording], env)
        else:
            seen = run([hbmscope, "run", "--no-window", "--record", recording, "--"] + command, env)
        assert bare.stdout == seen.stdout, (bare.stdout, seen.stdout)
        assert "Exception ignored" not in seen.stderr, seen.stderr

        report = json.loads(run([hbmscope, "report", recording, "--at", "oom", "--json"], env).stdout)
        holders = {row["name"]: row for row in report["holders"]}
        for name, category in EXPECTED[job].items():
            assert name in holders, (name, list(holders))
            assert holders[name]["category"] == category, holders[name]
        assert holders["history[*]"]["held_by"] == "global of " + job, holders["history[*]"]
        assert holders["history[*]"]["blocks"] == 10, holders["history[*]"]
        assert holders["batch"]["held_by"] == "local of train (%s)" % job, holders["batch"]

        events = json.loads(run([hbmscope, "export", recording, "--to", "json", "--what", "events"], env).stdout)["events"]
        markers = collections.Counter(row.get("text") for row in events if row["kind"] == "marker")
        graphs = [row["text"] for row in events if row.get("key") == "autograd graph"]
        expected = ["1 earlier step", "1 earlier step", "30 earlier steps"]  # Of output, loss and total.
        assert sorted(graphs) == (expected if job == "agent_torch.py" else []), graphs
        name, count = STEPS[job]
        assert markers["epoch"] == 1 and markers[name] == count, markers
        print("%d names, %d steps; the output is the same" % (len(holders), count))


if __name__ == "__main__":
    main(*sys.argv[1:])
