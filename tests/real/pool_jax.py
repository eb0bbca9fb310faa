"""A JAX job for pool_test.py: arrays, jit, donation and threads at random, with quiet points.

    pool_jax.py POINTS [threads] [sharded] [oom] [attached]
"""

import os
import random
import sys

os.environ["JAX_PLATFORMS"] = "cuda"

import jax
import jax.numpy as jnp
import numpy as np

import pool_marks

points, kinds = int(sys.argv[1]), sys.argv[2:]
devices = jax.devices()
if "attached" in kinds:
    *devices, marked = devices
    pool_marks.signal = lambda: jax.device_put(np.zeros(64, np.float32), marked).block_until_ready()


def pointers(array):
    return [(shard.device.id, shard.data.unsafe_buffer_pointer(), shard.data.nbytes) for shard in array.addressable_shards]


def figures(arrays):
    stats = {device.id: device.memory_stats() for device in devices}
    return {
        "in_use": {str(i): one["bytes_in_use"] for i, one in stats.items()},
        "allocs": {str(i): one["num_allocs"] for i, one in stats.items()},
        "arrays": [list(one) for array in arrays for one in pointers(array)],
    }


@jax.jit
def step(x):
    return jnp.tanh(x @ x.T).sum(axis=0)


donating = jax.jit(lambda x: x * 0.5, donate_argnums=0)


def work(seed, kept):
    choose = random.Random(seed)
    for _ in range(5):
        kind = choose.randrange(5)
        if kind == 0 or not kept:
            kept.append(jax.device_put(np.zeros(choose.randrange(1, 1 << 18), np.float32), choose.choice(devices)))
        elif kind == 1:
            kept.pop(choose.randrange(len(kept)))
        elif kind == 2:
            size = choose.choice((64, 128, 256))
            kept.append(step(jnp.ones((size, 2 * size))))
        elif kind == 3:
            at = choose.randrange(len(kept))
            kept[at] = donating(kept[at])
        elif "sharded" in kinds:
            from jax.sharding import Mesh, NamedSharding, PartitionSpec

            mesh = Mesh(np.array(devices), ("d",))
            kept.append(jax.device_put(np.zeros((8 * len(devices), 1000), np.float32), NamedSharding(mesh, PartitionSpec("d"))))
        while len(kept) > 40:
            kept.pop(0)
    jax.block_until_ready(kept)


all_figures = pool_marks.run_points(points, kinds, work, figures)
if "oom" in kinds:
    try:
        jnp.zeros((1 << 36,), jnp.float32).block_until_ready()
    except Exception as error:
        assert "RESOURCE_EXHAUSTED" in str(error), error
    pool_marks.mark(all_figures)
