"""A job for agent_test.py: a donating training loop, a list that grows, and an out-of-memory that is caught.

    agent_jax.py [RECORDING]     with RECORDING: has itself observed
"""

import gc
import pathlib
import sys
import tempfile
import time

import jax
import jax.numpy as jnp

import hbmscope

history = []


def train():
    params = {"w": jnp.ones((256, 1024)), "b": jnp.ones((1024,))}
    moments = jax.tree.map(jnp.zeros_like, params)

    def step(params, moments, batch):
        grads = jax.tree.map(lambda p: p * batch.mean(), params)
        moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, grads)
        return jax.tree.map(lambda p, m: p - m, params, moments), moments

    step = jax.jit(step, donate_argnums=(0, 1))
    batch = jnp.ones((64, 1024))
    for i in range(30):
        params, moments = step(params, moments, batch)
        if i % 3 == 0:
            history.append(params["w"] * 2)
        time.sleep(0.005)
    hbmscope.mark("epoch")
    hbmscope.snapshot()
    try:
        jax.block_until_ready(jnp.ones((1 << 30,)))
    except Exception as error:
        print(str(error).partition(":")[0])


jnp.ones((8,)).block_until_ready()
if len(sys.argv) > 1:
    hbmscope.start(sys.argv[1])
train()
gc.collect()
# Before 0.10, asking an array for its address leaves another one in the list, and snapshot() does so.
print(len(jax.live_arrays()) if jax.__version_info__ >= (0, 10) else "-", sum(array.nbytes for array in history))
hbmscope.stop()
# The job's own profiler, now that hbmscope has left.
with tempfile.TemporaryDirectory() as folder:
    with jax.profiler.trace(folder):
        jax.block_until_ready(jnp.ones((8,)) + 1)
    print(len(list(pathlib.Path(folder).rglob("*.xplane.pb"))))
