"""A small PyTorch training loop. Reports what PyTorch's allocator has at its end.

    torch_train.py leave     ends while it holds its memory; without `leave`, as programs end
"""

import os
import sys

import torch

import cuda

batch = int(os.environ.get("JUDGE_BATCH", 2048))
model = torch.nn.Sequential(torch.nn.Linear(2048, 8192), torch.nn.GELU(), torch.nn.Linear(8192, 2048)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
kept = []
for step in range(6):
    loss = model(torch.ones(batch, 2048, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    kept.append(torch.ones(step + 1, 1_000_000, device="cuda"))
del loss
torch.cuda.synchronize()
# The driver's own pool has no such list.
segments = [] if "cudaMallocAsync" in os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "") else torch.cuda.memory_snapshot()
cuda.report(
    allocated=torch.cuda.memory_allocated(),
    reserved=torch.cuda.memory_reserved(),
    peak_allocated=torch.cuda.max_memory_allocated(),
    blocks=[[one.get("address", 0), one["size"]] for segment in segments for one in segment["blocks"] if one["state"] == "active_allocated"],
)
if cuda.is_planted():
    kept.clear()
    torch.cuda.empty_cache()
if "leave" in sys.argv:
    cuda.leave()
