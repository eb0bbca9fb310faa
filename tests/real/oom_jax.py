"""Real JAX that runs out of memory on the emulated device; prints its own figures at that moment as JSON.

    log_texts.py runs it. SHAPE is "scattered" (small arrays between freed large ones) or "full".
"""

import json
import os
import random
import sys

os.environ["JAX_PLATFORMS"] = "cuda"
os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0"

import jax
import jax.numpy as jnp
import numpy as np

MIB = 1 << 20
device = jax.devices()[0]
chance = random.Random(7)


def put(mib):
    return jax.device_put(np.zeros((mib * MIB // 4,), np.float32)).block_until_ready()


def request(elements):
    return jnp.zeros((elements,), jnp.float32).block_until_ready()


request(4)  # What the first array brings along is there before the figures are taken.
kept, large = [], []
for _ in range(12):
    large.append(put(chance.choice([64, 96, 128])))
    kept.append(put(chance.choice([1, 2, 3])))
if sys.argv[1] == "scattered":
    del large
before = device.memory_stats() or {}
free = before.get("bytes_limit", 2 << 30) - before.get("bytes_in_use", 0)
asked = int(free * (0.9 if sys.argv[1] == "scattered" else 1.5)) // 4 * 4
try:
    request(asked // 4)
    print(json.dumps({"fits": asked}), flush=True)
except Exception as error:
    print(f"{type(error).__module__}.{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    print(json.dumps({"asked": asked, "statistics": device.memory_stats()}), flush=True)
