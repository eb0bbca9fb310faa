"""A JAX job under jax.profiler.trace(), whose profile says the same as the allocator's own figures: every event follows
from the one before it, no event is missing, and at the end the same is in use.

    profile_jax.py HBMSCOPE FOLDER
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import threading

os.environ["JAX_PLATFORMS"] = "cuda"

import jax
import jax.numpy as jnp
import numpy as np

hbmscope, folder = sys.argv[1], pathlib.Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)
device = jax.devices()[0]


@jax.jit
def step(weights, batch):
    def loss(weights):
        return (jnp.tanh(jnp.tanh(batch @ weights) @ weights.T) ** 2).sum()

    return weights - 0.1 * jax.grad(loss)(weights)


def work(seed):
    choose, kept = random.Random(seed), []
    for _ in range(60):
        kept.append(jax.device_put(np.zeros(choose.randrange(1, 1 << 16), np.float32)))
        if len(kept) > 10:
            kept.pop(choose.randrange(len(kept)))


older = [jax.device_put(np.zeros((1000 + i, 17), np.float32)) for i in range(20)]
weights, batch = jnp.ones((256, 512)), jnp.ones((1024, 256))
weights = step(weights, batch).block_until_ready()
with jax.profiler.trace(str(folder)):
    before = device.memory_stats()
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for number in range(20):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            weights = step(weights, batch)
            del older[:1]
    weights.block_until_ready()
    for thread in threads:
        thread.join()
    after = device.memory_stats()

[profile] = folder.glob("plugins/profile/*/*.xplane.pb")
report = json.loads(subprocess.run([hbmscope, "report", "--json", str(profile)], check=True, capture_output=True).stdout)
[heap] = [each for each in report["heaps"] if each["name"] == "GPU_0_bfc"]
counts = {each["name"]: each["count"] for each in report["import"]}
assert "gaps" not in counts, counts
assert heap["in_use_bytes"] == after["bytes_in_use"], (heap, after)
assert heap["peak_in_use_bytes"] <= after["peak_bytes_in_use"], (heap, after)
limits = [each["value"] for each in report["counters"] if (each["name"], each["heap"]) == ("limit_bytes", "GPU_0_bfc")]
assert limits == [after["bytes_limit"]], (limits, after)
print(f"{counts['checked_figures']} figures agree; {after['num_allocs'] - before['num_allocs']} allocations on the device")
