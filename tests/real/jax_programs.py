"""What runs in JAX on emulated devices: prints one line for each program, "passed" or the error.

    emulated.py build/release/emulated build/real/jax-0.6.2/bin/python jax_programs.py [PROGRAM ...]
"""

import os
import shutil
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cuda,cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")

import jax
import jax.numpy as jnp
import numpy as np

import driver
from programs import run_programs


def account():
    """The driver's account of each device equals JAX's pool, but for contexts and variables of modules."""
    for device in jax.devices():
        pool = (device.memory_stats() or {}).get("pool_bytes")
        outside = driver.used_bytes(device.id) - (pool or 0)
        if pool is not None and not 0 <= outside <= (1 << 30):
            raise AssertionError(f"device {device.id}: {outside} B outside the pool")


def arrays():
    values = np.arange(1 << 20, dtype=np.float32)
    assert (np.asarray(jax.device_put(values)) == values).all()


def jit():
    jax.jit(lambda x: jnp.tanh(x @ x.T).sum())(jnp.ones((512, 512))).block_until_ready()


def donation():
    step = jax.jit(lambda w: jax.tree.map(lambda x: x * 0.9, w), donate_argnums=0)
    weights = [jnp.ones((1024, 1024)) for _ in range(4)]
    for _ in range(3):
        old, weights = weights, step(weights)
        assert all(weight.is_deleted() for weight in old)
    jax.block_until_ready(weights)


def out_of_memory():
    try:
        jnp.zeros((1 << 40,), jnp.uint8).block_until_ready()
    except Exception as error:
        assert "RESOURCE_EXHAUSTED" in str(error), error
    else:
        raise AssertionError("a request for 1 TiB was served")
    jnp.ones(1000).block_until_ready()


def graphs():
    """A loop on the device, which XLA makes a graph of."""
    loop = jax.jit(lambda x: jax.lax.fori_loop(0, 10, lambda _, y: jnp.sin(y) @ y, x))
    for _ in range(3):
        loop(jnp.ones((256, 256))).block_until_ready()


def profiler():
    folder = tempfile.mkdtemp()
    try:
        with jax.profiler.trace(folder):
            jnp.ones((1000, 1000)).sum().block_until_ready()
        jax.profiler.save_device_memory_profile(folder + "/memory.prof")
        assert os.path.getsize(folder + "/memory.prof") > 0
    finally:
        shutil.rmtree(folder)


def all_devices():
    """A collective over all devices, and copies between them."""
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(jax.devices(), ("data",))
    split = jax.device_put(jnp.ones((64 * len(jax.devices()), 128)), NamedSharding(mesh, PartitionSpec("data")))
    jax.jit(lambda x: x @ x.T, out_shardings=NamedSharding(mesh, PartitionSpec()))(split).block_until_ready()
    for device in jax.devices():
        jax.device_put(split[:64], device).block_until_ready()


run_programs((arrays, jit, donation, out_of_memory, graphs, profiler, all_devices), account)
