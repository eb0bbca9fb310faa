"""A PyTorch job for pool_test.py: tensors, training and streams at random, with quiet points.

    pool_torch.py POINTS [threads] [oom] [attached]
"""

import random
import sys

import torch

import pool_marks

points, kinds = int(sys.argv[1]), sys.argv[2:]
devices = range(torch.cuda.device_count())
if "attached" in kinds:
    *devices, marked = devices
    pool_marks.signal = lambda: torch.empty(64, device=f"cuda:{marked}")
model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 10)).cuda()
optimizer = torch.optim.AdamW(model.parameters())


def snapshot():
    """All blocks in use, [device, address, bytes], at ten of the points."""
    if pool_marks.point % max(1, points // 10) != 0:
        return None
    return [
        [segment["device"], block.get("address", 0), block["size"]]
        for segment in torch.cuda.memory_snapshot()
        for block in segment["blocks"]
        if block["state"] == "active_allocated" and segment["device"] in devices
    ]


def figures(tensors):
    for device in devices:
        torch.cuda.synchronize(device)
    stats = {str(device): torch.cuda.memory_stats(device) for device in devices}
    return {
        "in_use": {device: one.get("allocated_bytes.all.current", 0) for device, one in stats.items()},
        "requested": {device: one.get("requested_bytes.all.current", 0) for device, one in stats.items()},
        "allocs": {device: one.get("allocation.all.allocated", 0) for device, one in stats.items()},
        "blocks": snapshot(),
        "arrays": [[tensor.device.index, tensor.data_ptr(), tensor.nbytes] for tensor in tensors],
    }


def train():
    loss = model(torch.zeros(64, 256, device="cuda")).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def work(seed, kept):
    choose = random.Random(seed)
    for _ in range(5):
        kind = choose.randrange(4)
        device = choose.choice(devices)
        if kind == 0 or not kept:
            kept.append(torch.empty(choose.randrange(1, 1 << 22), dtype=torch.uint8, device=f"cuda:{device}"))
        elif kind == 1:
            kept.pop(choose.randrange(len(kept)))
        elif kind == 2:
            with torch.cuda.stream(torch.cuda.Stream(device)):
                kept.append(torch.empty(choose.randrange(1, 1 << 24), dtype=torch.uint8, device=f"cuda:{device}"))
        elif "threads" not in kinds:
            train()
        if choose.random() < 0.02:
            torch.cuda.empty_cache()
        while len(kept) > 40:
            kept.pop(0)


all_figures = pool_marks.run_points(points, kinds, work, figures)
if "oom" in kinds:
    try:
        torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
    except RuntimeError as error:
        assert "out of memory" in str(error), error
    pool_marks.mark(all_figures)
