"""Real JAX on the emulated device: start, arrays, a training step with donation, out of memory.

    emulated.py build/release/emulated build/real/jax-0.6.2/bin/python jax_memory.py ALLOCATOR

ALLOCATOR is default, growing (no preallocation) or platform. The driver's account, without what it had before the first
array, must equal `pool_bytes` (and each array, rounded up to 2 MiB, with the allocator platform).
"""

import gzip
import os
import sys
import time

allocator = sys.argv[1]
os.environ["JAX_PLATFORMS"] = "cuda"
os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0"  # Trials of kernels that do nothing decide nothing.
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false" if allocator == "growing" else "true"
os.environ["XLA_PYTHON_CLIENT_ALLOCATOR"] = "platform" if allocator == "platform" else "default"

import jax
import jax.numpy as jnp
import numpy as np

import driver

MIB = 1 << 20
checks = driver.Checks()
device = jax.devices()[0]
total = int(os.environ["HBMSCOPE_DEVICE_BYTES"])
context = int(os.environ["HBMSCOPE_DEVICE_CONTEXT_BYTES"])


def statistics():
    return device.memory_stats() or {}


def outside_pool():
    return driver.used_bytes() - context - statistics().get("pool_bytes", 0)


def is_all_in_pool():
    """But for small variables of compiled modules, which share pages of 2 MiB."""
    return 0 <= outside_pool() <= 16 * MIB and outside_pool() % (2 * MIB) == 0


def check(what):
    if allocator == "platform":
        return
    settles(is_all_in_pool)
    checks.true(f"{what}: {outside_pool()} B outside the pool", is_all_in_pool())


def settles(condition):
    """JAX frees an array on a thread of its own, once its last use is done."""
    end = time.monotonic() + 5
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def quiet_in_use():
    """What is in use once nothing has been freed for a while."""
    since, in_use = time.monotonic(), statistics()["bytes_in_use"]
    while time.monotonic() - since < 0.2:
        time.sleep(0.01)
        if statistics()["bytes_in_use"] != in_use:
            since, in_use = time.monotonic(), statistics()["bytes_in_use"]
    return in_use


def check_start():
    if allocator == "default":
        checks.equal("three quarters may be taken", statistics()["bytes_limit"], total * 3 // 4)
    check("start")


def check_arrays():
    values = np.arange(4 * MIB, dtype=np.float32)
    before = driver.used_bytes()
    array = jax.device_put(values)
    array.block_until_ready()
    check("device_put")
    if allocator == "platform":
        checks.equal("device_put", driver.used_bytes() - before, 16 * MIB)
    else:
        settles(lambda: statistics()["bytes_in_use"] == 16 * MIB)
        checks.equal("in use", statistics()["bytes_in_use"], 16 * MIB)
    copy = jax.jit(lambda x: x * 2 + 1)(array)
    copy.block_until_ready()
    check("jit")
    checks.true("an array comes back as it was put", (np.asarray(jax.device_put(values)) == values).all())
    copy.delete()
    array.delete()
    check("delete")
    if allocator == "platform":
        checks.true("everything is freed", settles(lambda: driver.used_bytes() - before <= 4 * MIB))
    else:
        checks.true("nothing is in use after delete", settles(lambda: statistics()["bytes_in_use"] == 0))


def make_step():
    def loss(weights, inputs, targets):
        for matrix in weights[:-1]:
            inputs = jax.nn.relu(inputs @ matrix)
        return jnp.mean((inputs @ weights[-1] - targets) ** 2)

    def step(weights, inputs, targets):
        value, gradients = jax.value_and_grad(loss)(weights, inputs, targets)
        return [weight - 0.1 * gradient for weight, gradient in zip(weights, gradients)], value

    return jax.jit(step, donate_argnums=0)


def check_training():
    weights = [jax.device_put(np.zeros(shape, np.float32)) for shape in ((1024, 4096), (4096, 4096), (4096, 8))]
    inputs, targets = jnp.zeros((512, 1024)), jnp.zeros((512, 8))
    step = make_step()
    used = None
    for number in range(5):
        weights, value = step(weights, inputs, targets)
        checks.true(f"loss of step {number}", np.isfinite(float(value)))
        check(f"step {number}")
        if allocator != "platform":
            used = used or quiet_in_use()
            settles(lambda: statistics()["bytes_in_use"] == used)
            checks.equal(f"donation in step {number}", statistics()["bytes_in_use"], used)
    jax.profiler.save_device_memory_profile("jax_memory.prof")
    checks.true("the profile names this file", b"jax_memory.py" in gzip.open("jax_memory.prof").read())
    os.remove("jax_memory.prof")


def check_out_of_memory():
    request = jax.jit(lambda: jnp.zeros((total,), jnp.uint8)).lower().compile()
    before = driver.used_bytes()
    try:
        request().block_until_ready()
        checks.true("a request for all memory is refused", False)
    except Exception as error:
        checks.true("RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED" in str(error))
    check("after a refusal")
    if allocator != "growing":
        checks.equal("a refusal changes nothing", driver.used_bytes(), before)
    jax.device_put(np.zeros(MIB, np.float32)).block_until_ready()
    check("the next array")


check_start()
check_arrays()
check_training()
check_out_of_memory()
checks.finish()
