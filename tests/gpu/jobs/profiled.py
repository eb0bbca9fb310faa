"""How many kernels the framework's own profiler sees.

    profiled.py torch|jax
"""

import glob
import gzip
import json
import sys
import tempfile

import cuda

if sys.argv[1] == "torch":
    import torch
    from torch.profiler import ProfilerActivity, profile

    x = torch.ones(2048, 2048, device="cuda")
    (x @ x).mul_(0.5)
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as profiler:
        for _ in range(10):
            x = (x @ x) * 0.5
        torch.cuda.synchronize()
    kernels = sum("CUDA" in str(event.device_type) for event in profiler.events())
else:
    import jax
    import jax.numpy as jnp

    step = jax.jit(lambda x: (x @ x) * 0.5)
    x = step(jnp.ones((2048, 2048))).block_until_ready()
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            for _ in range(10):
                x = step(x)
            x.block_until_ready()
        (trace,) = glob.glob(folder + "/**/*.trace.json.gz", recursive=True)
        with gzip.open(trace) as file:
            rows = json.load(file)["traceEvents"]
    streams = {(row["pid"], row["tid"]) for row in rows if row.get("name") == "thread_name" and "Stream" in row["args"]["name"]}
    kernels = sum(row.get("ph") == "X" and (row["pid"], row["tid"]) in streams for row in rows)
cuda.report(kernels=kernels)
