"""Real PyTorch that runs out of memory on the emulated device; prints its own figures at that moment as JSON.

    log_texts.py runs it. SHAPE is "scattered" (small tensors between freed large ones) or "full".
"""

import json
import sys

import torch

MIB = 1 << 20


def put(mib):
    return torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")


kept, large = [], []
for number in range(12):
    large.append(put(64 + 16 * (number % 3)))
    kept.append(put(2 + number % 3))
if sys.argv[1] == "scattered":
    del large[::2]
# What is free in the pool goes back to the device before PyTorch gives up.
free, total = torch.cuda.mem_get_info()
unused = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
asked = ((free + unused) // MIB + 64) * MIB
try:
    put(asked // MIB)
    print(json.dumps({"fits": asked}), flush=True)
except torch.cuda.OutOfMemoryError as error:
    print(f"{type(error).__module__}.{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    figures = torch.cuda.memory_stats()
    print(
        json.dumps(
            {
                "asked": asked,
                "used": figures["allocated_bytes.all.current"],
                "pool": figures["reserved_bytes.all.current"],
                "available": torch.cuda.mem_get_info()[0],
                "total": total,
            }
        ),
        flush=True,
    )
