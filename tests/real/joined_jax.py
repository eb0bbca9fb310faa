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
    arrays = [array.nbytes for array in (*weights, *twins, other_twin, result)]
    print(json.dumps({"in_use": statistics.get("bytes_in_use"), "arrays": arrays}))


def report(*files):
    done = subprocess.run([hbmscope, "report", *map(str, files), "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def in_use(found):
    return next(total["value"] for total in found["totals"] if total["unit"] == "bytes")


def check():
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    variables = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="0", TF_BFC_MEMORY_DUMP=str(folder / "dump"))
    command = [sys.executable, __file__, hbmscope, str(folder), "job"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    (folder / "train.log").write_text(done.stderr)
    truth = json.loads(done.stdout.splitlines()[-1])
    found = report(folder)
    by_source = {row["found_by"]: row for row in found["counted_once"]}
    arrays, dump = by_source["size"], by_source["address and size"]
    log = in_use(report(folder / "train.log"))
    print(f"in use {in_use(found)} in all files, {log} in the log; {found['counted_once']}")
    assert in_use(found) == log and 0 <= log - truth["in_use"] <= 4096, truth  # The request brings small ones along.
    assert len(found["failures"]) == 1, found["failures"]
    assert dump["found"] == dump["blocks"] and arrays["found"] == arrays["blocks"] == len(truth["arrays"])
    assert arrays["bytes"] == sum(truth["arrays"])
    assert arrays["stacks_lent"] >= 20, "the weights are the only arrays of their sizes"


if sys.argv[3:] == ["job"]:
    job()
else:
    check()
