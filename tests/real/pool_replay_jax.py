"""A JAX job for pool_replay.py: one thread, and each step is done before the next one begins.

    pool_replay_jax.py SEED STEPS [fill] [oom]      fill: arrays of some 100 MiB until the device is full
"""

import gc
import os
import random
import sys

os.environ["JAX_PLATFORMS"] = "cuda"

import jax
import jax.numpy as jnp
import numpy as np

seed, steps, kinds = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
choose = random.Random(seed)
kept = []


@jax.jit
def step(x):
    return jnp.tanh(x @ x.T).sum(axis=0)


@jax.jit
def split(x):
    return x * 2, x.sum(), jnp.tile(x.ravel(), 2)


donating = jax.jit(lambda x: x * 0.5, donate_argnums=0)


def put(count):
    return jax.device_put(np.zeros(count, np.float32)).block_until_ready()


def put_until_refused(count, more):
    try:
        while True:
            kept.append(put(count))
            count += more
    except jax.errors.JaxRuntimeError as error:
        assert "RESOURCE_EXHAUSTED" in str(error), error


for number in range(steps):
    kind = choose.randrange(6)
    if kind <= 1 or not kept:
        # Sizes of all magnitudes: 4 B to 64 MiB.
        kept.append(put(int(2 ** choose.uniform(0, 24))))
    elif kind == 2:
        kept.pop(choose.randrange(len(kept))).delete()
    elif kind == 3:
        size = choose.choice((64, 128, 256))
        kept.append(step(jnp.ones((size, 2 * size))))
    elif kind == 4:
        at = choose.randrange(len(kept))
        kept[at] = donating(kept[at])
    else:
        kept.extend(split(choose.choice(kept)))
    jax.block_until_ready(kept)
    while len(kept) > 60 or sum(array.nbytes for array in kept) > 1 << 30:
        kept.pop(choose.randrange(len(kept))).delete()
if "fill" in kinds:
    put_until_refused(25 << 20, 1 << 18)
    # Holes, then what fits into them and what does not.
    for array in kept[1::2]:
        array.delete()
    kept = kept[::2]
    put_until_refused(20 << 20, 1 << 18)
if "oom" in kinds:
    try:
        jnp.zeros((1 << 36,), jnp.float32).block_until_ready()
    except jax.errors.JaxRuntimeError as error:
        assert "RESOURCE_EXHAUSTED" in str(error), error
jax.block_until_ready(kept)
gc.collect()
