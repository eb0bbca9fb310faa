"""Microseconds of a call of a donated program, on the emulated TPU and on JAX's own CPU client in the same process.

    hbmscope run --emulate v5e:1x1 -- python tpu_speed.py
"""

import time

import jax
import jax.numpy as jnp

CALLS = 20000


def microseconds(device):
    step = jax.jit(lambda x: x * 2 + 1, donate_argnums=0)
    x = step(jax.device_put(jnp.ones((8, 8)), device))
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(CALLS):
            x = step(x)
        x.block_until_ready()
        best = min(best, (time.perf_counter() - begin) / CALLS * 1e6)
    return best


tpu, cpu = microseconds(jax.devices("tpu")[0]), microseconds(jax.devices("cpu")[0])
print(f"a donated call takes {tpu:.1f} us on the emulated TPU, {cpu:.1f} us on JAX's CPU: {tpu / cpu:.2f} x")
