"""Takes memory until there is none left, catches the error, and goes on.

    out_of_memory.py torch|jax
"""

import sys

import cuda

kept = []
if sys.argv[1] == "torch":
    import torch

    try:
        while True:
            kept.append(torch.empty(1 << 29, dtype=torch.uint8, device="cuda"))
    except torch.OutOfMemoryError if hasattr(torch, "OutOfMemoryError") else torch.cuda.OutOfMemoryError as error:
        text = str(error)
    kept.clear()
    torch.ones(1000, device="cuda").sum().item()
else:
    import jax.numpy as jnp

    try:
        while True:
            kept.append(jnp.zeros((1 << 29,), jnp.uint8).block_until_ready())
    except Exception as error:
        text = str(error)
    kept.clear()
    float(jnp.ones(1000).sum())
cuda.report(error=text[:200])
