"""What runs in JAX on an emulated TPU slice: prints one line for each program, "passed" or the error.

    hbmscope run --emulate v5e:2x2 -- build/real/tpu-0.10.2/bin/python tpu_programs.py [PROGRAM ...]

After each program the books of every device must be the sum of JAX's live arrays. tpu_training.py has more of them.
"""

import gc
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

import tpu_compiled
import tpu_training
from programs import run_programs


def account():
    """What each device has in use is what its live arrays take; arrays can share their memory."""
    gc.collect()
    bytes_of = {device: {} for device in jax.devices()}
    for array in jax.live_arrays():
        if array.is_deleted():
            continue
        for shard in array.addressable_shards:
            if shard.data.sharding.memory_kind == "device":
                bytes_of[shard.device][shard.data.unsafe_buffer_pointer()] = shard.data.on_device_size_in_bytes()
    for device, arrays in bytes_of.items():
        in_use = device.memory_stats()["bytes_in_use"]
        if in_use != sum(arrays.values()):
            raise AssertionError(f"device {device.id}: {in_use} B in use, {sum(arrays.values())} B in {len(arrays)} arrays")


def refused(call, *signs):
    """The error that the call raises, which has these signs in its text."""
    try:
        jax.block_until_ready(call())
    except Exception as error:
        assert all(sign in str(error) for sign in signs), f"the error is {type(error).__name__}: {error}"
        return error
    raise AssertionError("no error was raised")


def devices():
    first = jax.devices()[0]
    assert first.platform == "tpu" and "TPU" in first.device_kind, (first.platform, first.device_kind)
    places = {(*device.coords, device.core_on_chip) for device in jax.devices()}
    assert len(places) == jax.device_count() == jax.local_device_count(), places
    assert jax.process_index() == 0 and jax.process_count() == 1
    assert jax.make_mesh((jax.device_count(),), ("data",)).devices.size == jax.device_count()
    memories = {memory.kind for memory in first.addressable_memories()}
    assert first.default_memory().kind == "device" and "pinned_host" in memories, memories


def arrays():
    """Values come back as they were."""
    rng = np.random.default_rng(0)
    for shape in ((), (1,), (7,), (1000, 1), (3, 5, 7), (1, 50257), (0, 4), (129, 2, 1, 3)):
        for dtype in (np.float32, np.int32, np.uint32, np.float16, np.int8, np.uint8, np.bool_, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4, np.complex64):
            values = rng.integers(0, 7, shape).astype(dtype)
            array = jax.device_put(values)
            got = np.asarray(array)
            assert got.dtype == values.dtype and got.shape == values.shape and (got == values).all(), (shape, dtype)


def strided():
    values = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    for view in (values.T, values[::2, ::-1], values[:, 1:3, ::2], values.transpose(1, 0, 2), np.broadcast_to(values[0, 0], (6, 5))):
        assert (np.asarray(jax.device_put(view)) == view).all(), view.strides
    small = values.T.astype(ml_dtypes.bfloat16)
    assert (np.asarray(jax.device_put(small)) == small).all()


def copies():
    """Between devices, to one process's host memory and back, and the same array again."""
    values = np.arange(1000, dtype=np.int32)
    array = jax.device_put(values, jax.devices()[0])
    for device in jax.devices():
        moved = jax.device_put(array, device)
        moved.copy_to_host_async()
        assert moved.devices() == {device} and (np.asarray(moved) == values).all()
    assert (np.asarray(jax.device_put(array, jax.devices("cpu")[0])) == values).all()
    array.delete()
    assert array.is_deleted()


def jit():
    jax.jit(lambda x: jnp.tanh(x @ x.T).sum())(jnp.ones((512, 512))).block_until_ready()


def operations():
    """What XLA compiles in its own ways: random numbers, sorting, decompositions, transforms, gathers."""
    key = jax.random.key(0)
    x = jax.random.normal(key, (128, 128))
    for function in (jnp.sort, jnp.linalg.qr, jnp.linalg.svd, jnp.linalg.eigh, jnp.fft.fft2, jnp.cumsum, lambda x: jax.lax.top_k(x, 5), lambda x: x[jnp.arange(5), 3], lambda x: x.at[3].set(1)):
        jax.block_until_ready(jax.jit(function)(x))
    jax.random.permutation(key, 1000).block_until_ready()


def donation():
    step = jax.jit(lambda w: jax.tree.map(lambda x: x * 0.9, w), donate_argnums=0)
    weights = [jnp.ones((1024, 1024)) for _ in range(4)]
    in_use = jax.devices()[0].memory_stats()["bytes_in_use"]
    for _ in range(3):
        old, weights = weights, step(weights)
        assert all(weight.is_deleted() for weight in old)
        assert jax.devices()[0].memory_stats()["bytes_in_use"] == in_use
    jax.device_put(weights[0], jax.devices()[-1], donate=True).block_until_ready()


def used_after_donation():
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.ones((256, 256))
    step(x)
    refused(lambda: step(x), "deleted")
    refused(lambda: np.asarray(x), "deleted")
    both = jax.jit(lambda x, y: (x + 1, y + 2), donate_argnums=(0, 1))
    y = jnp.ones((256, 256))
    refused(lambda: both(y, y), "donate")
    z = jnp.ones((256, 256))
    refused(lambda: jax.jit(lambda x, y: x + y, donate_argnums=0)(z, z), "donate")


def offload():
    from jax.ad_checkpoint import checkpoint_name

    place = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    values = np.arange(1 << 16, dtype=np.float32)
    on_host = jax.device_put(values, place)
    assert on_host.sharding.memory_kind == "pinned_host" and (np.asarray(on_host) == values).all()
    back = jax.device_put(on_host, place.with_memory_kind("device"))
    assert (np.asarray(back) == values).all()
    computed = jax.jit(lambda x: x * 2, out_shardings=place)(back)
    assert computed.sharding.memory_kind == "pinned_host"

    def loss(weights, x):
        def layer(x, weight):
            return jnp.tanh(checkpoint_name(x, "kept") @ weight), None

        policy = jax.checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=[], names_which_can_be_offloaded=["kept"], offload_src="device", offload_dst="pinned_host"
        )
        return jax.lax.scan(jax.checkpoint(layer, policy=policy), x, weights)[0].sum()

    compiled = jax.jit(jax.grad(loss)).lower(jnp.ones((8, 1024, 1024)), jnp.ones((8192, 1024))).compile()
    analysis = compiled.memory_analysis()
    assert analysis.host_temp_size_in_bytes > 0, analysis
    compiled(jnp.ones((8, 1024, 1024)), jnp.ones((8192, 1024)))


def memory_profile():
    kept = jnp.ones((1000, 1000))
    assert gzip.decompress(jax.profiler.device_memory_profile())
    assert any(array is kept for array in jax.live_arrays())


def traced():
    folder = tempfile.mkdtemp()
    try:
        with jax.profiler.trace(folder), jax.profiler.StepTraceAnnotation("step", step_num=1):
            jnp.ones((1000, 1000)).sum().block_until_ready()
        assert any(files for _, _, files in os.walk(folder))
    finally:
        shutil.rmtree(folder)


def compilation_cache():
    """JAX's own: the second compilation is a hit, and the program runs."""
    from jax.experimental.compilation_cache import compilation_cache as cache

    folder, hits = tempfile.mkdtemp(), []
    names = {"jax_compilation_cache_dir": folder, "jax_persistent_cache_min_compile_time_secs": 0, "jax_persistent_cache_min_entry_size_bytes": -1}
    before = {name: getattr(jax.config, name) for name in names}
    try:
        for name, value in names.items():
            jax.config.update(name, value)
        cache.reset_cache()
        jax.monitoring.register_event_listener(lambda event, **_: hits.append(event) if event == "/jax/compilation_cache/cache_hits" else None)
        for _ in range(2):
            jax.clear_caches()
            result = jax.jit(lambda x: jnp.cos(x) @ x, donate_argnums=0)(np.ones((300, 300), np.float32))
            assert result.shape == (300, 300)
        assert os.listdir(folder) and hits, "no program was read from the cache"
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        cache.reset_cache()
        shutil.rmtree(folder)


def serialized_program():
    from jax.experimental import serialize_executable

    compiled = jax.jit(lambda x: jnp.sin(x) @ x).lower(jnp.ones((256, 256))).compile()
    loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled), execution_devices=jax.devices()[:1])
    assert loaded(jnp.ones((256, 256))).shape == (256, 256)
    for figure in tpu_compiled.FIGURES:
        assert getattr(loaded.memory_analysis(), figure) == getattr(compiled.memory_analysis(), figure), figure


def what_programs_tell():
    """Costs, texts and the shardings of a compiled program."""
    compiled = jax.jit(lambda x: jnp.sin(x) @ x).lower(jnp.ones((256, 256))).compile()
    costs = compiled.cost_analysis()
    assert (costs[0] if isinstance(costs, list) else costs)["flops"] > 0
    assert "HloModule" in compiled.as_text()
    assert compiled.input_shardings and compiled.output_shardings
    assert jax.jit(lambda x: x + 1).lower(jnp.ones(8)).as_text()


def threads():
    step = jax.jit(lambda x, y: x * 0.5 + y.sum(), donate_argnums=0)
    failures = []

    def work(number):
        try:
            device = jax.devices()[number % jax.device_count()]
            x = jax.device_put(np.ones((64, 64), np.float32), device)
            for i in range(200):
                x = step(x, jax.device_put(np.full((16, 1 + i % 3), i, np.float32), device))
            assert np.asarray(x).shape == (64, 64)
        except Exception as error:
            failures.append(error)

    started = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if failures:
        raise failures[0]


def out_of_memory():
    """Arrays, then the temporaries of a program; the client is usable afterwards."""
    limit = jax.devices()[0].memory_stats()["bytes_limit"]
    kept = []

    def fill():
        for _ in range(4):
            kept.append(jax.block_until_ready(jnp.zeros((limit * 3 // 10 // 2**20, 2**20), jnp.int8)))

    refused(fill, "RESOURCE_EXHAUSTED")
    assert len(kept) == 3
    kept.clear()
    jnp.ones(1000).block_until_ready()
    account()
    side = int((limit * 0.15 / 2) ** 0.5) // 256 * 256
    x = jnp.zeros((side, side), jnp.bfloat16)
    others = jnp.zeros((limit * 6 // 10 // 2**20, 2**20), jnp.int8)
    refused(lambda: jax.jit(lambda x: (x @ x) @ x)(x), "RESOURCE_EXHAUSTED")
    others.delete()
    jax.jit(lambda x: (x @ x) @ x)(x).block_until_ready()


def out_of_memory_compiling():
    side = int((jax.devices()[0].memory_stats()["bytes_limit"] * 0.6 / 2) ** 0.5) // 256 * 256
    x = jax.ShapeDtypeStruct((side, side), jnp.bfloat16)
    refused(lambda: jax.jit(lambda x: (x @ x) @ x).lower(x).compile(), "RESOURCE_EXHAUSTED", "Ran out of memory")
    jnp.ones(1000).block_until_ready()


def callbacks():
    x = jnp.ones((8, 128))
    shape = jax.ShapeDtypeStruct((8, 128), jnp.float32)
    result = jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(x) + 1, shape, x))(x)
    assert result.shape == (8, 128)
    jax.jit(lambda x: jax.debug.print("sum {}", x.sum()))(x)
    jax.jit(lambda x: jax.experimental.io_callback(lambda x: None, None, x))(x)
    jax.effects_barrier()


def loops():
    x = jax.jit(lambda x: jax.lax.while_loop(lambda x: x.sum() < 10, lambda x: x + 1, x))(jnp.zeros((8, 128)))
    jax.jit(lambda x: jax.lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x))(x).block_until_ready()
    jax.jit(lambda x: jax.lax.fori_loop(0, 10, lambda _, y: jnp.sin(y) @ y, x))(jnp.ones((256, 256))).block_until_ready()


def checked_values():
    jax.config.update("jax_debug_nans", True)
    try:
        jax.jit(lambda x: jnp.log(x + 1))(jnp.ones(100)).block_until_ready()
    finally:
        jax.config.update("jax_debug_nans", False)


def distributed():
    jax.distributed.initialize()
    assert jax.process_count() == 1
    from jax.experimental import multihost_utils

    multihost_utils.sync_global_devices("the start")
    assert multihost_utils.process_allgather(np.ones(3)).shape[-1] == 3
    jax.distributed.shutdown()


def compiled_alike():
    """The compiler's figures are those of plain ahead-of-time compilation, which knows nothing of this plugin."""
    topology = os.environ["HBMSCOPE_TPU_TOPOLOGY"]
    given = {name: value for name, value in os.environ.items() if not name.startswith(("HBMSCOPE_", "TPU_", "PYTHONPATH", "LD_PRELOAD"))}
    given.update(JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1", TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v5litepod-4", TPU_WORKER_HOSTNAMES="localhost", TPU_WORKER_ID="0")
    done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("tpu_compiled.py"), topology], env=given, capture_output=True, text=True)
    assert done.returncode == 0, (done.stderr.strip().splitlines() or ["no output"])[-1]
    expected = json.loads(done.stdout.splitlines()[-1])
    found = tpu_compiled.figures(jax.devices())
    assert found.keys() == expected.keys()
    wrong = [f"{name}: {figure} is {found[name][figure]}, {expected[name][figure]} without a device" for name in found for figure in found[name] if found[name][figure] != expected[name][figure]]
    assert not wrong, "; ".join(wrong)


run_programs(
    (devices, arrays, strided, copies, jit, operations, donation, used_after_donation, offload, memory_profile, compilation_cache, serialized_program, what_programs_tell, threads)
    + (out_of_memory, out_of_memory_compiling, callbacks, loops, checked_values, distributed, compiled_alike)
    + (*tpu_training.PROGRAMS, traced),
    account,
)
