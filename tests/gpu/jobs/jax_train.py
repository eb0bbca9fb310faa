"""A small JAX training loop with donation. Reports what JAX's allocator has at its end.

    jax_train.py [free] [leave]     free: frees everything first; leave: ends while it holds its memory
"""

import gc
import os
import sys
import time

import jax
import jax.numpy as jnp

import cuda

batch = int(os.environ.get("JUDGE_BATCH", 2048))


def loss(weights, inputs):
    return jnp.mean(jnp.square(jax.nn.gelu(inputs @ weights[0]) @ weights[1]))


@jax.jit
def batch_of(step):
    return jnp.full((batch, 2048), step, jnp.float32)


def update(weights, inputs):
    return [weight - 0.01 * gradient for weight, gradient in zip(weights, jax.grad(loss)(weights, inputs))]


train = jax.jit(update, donate_argnums=0)
weights = [jnp.ones((2048, 8192)), jnp.ones((8192, 2048))]
kept = []
for step in range(6):
    weights = train(weights, batch_of(step))
    kept.append(jnp.ones((step + 1, 1_000_000)))
jax.block_until_ready((weights, kept))
if "free" in sys.argv and not cuda.is_planted():
    for array in weights + kept:
        array.delete()
    weights, kept = [], []
gc.collect()
time.sleep(0.5)  # JAX frees arrays on threads of its own.
device = jax.local_devices()[0]
arrays = [[array.unsafe_buffer_pointer(), array.nbytes] for array in weights + kept]
stats = {key: value for key, value in (device.memory_stats() or {}).items() if isinstance(value, int)}
cuda.report(platform=device.platform, stats=stats, arrays=arrays)
if cuda.is_planted() and "free" not in sys.argv:
    for array in weights + kept:
        array.delete()
    time.sleep(0.5)
if "leave" in sys.argv:
    cuda.leave()
