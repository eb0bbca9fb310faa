#!/usr/bin/env python3
"""A training step of fully sharded data parallel PyTorch, one process for each device.

    hbmscope run --emulate h100:8 -- torchrun --nproc-per-node 8 samples/dry_run/torch_fsdp.py
"""

import argparse
import os

import torch
from torch import distributed, nn
from torch.distributed.fsdp import FullyShardedDataParallel

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--batch", type=int, default=64)
options.add_argument("--width", type=int, default=4096)
options.add_argument("--layers", type=int, default=16)
options = options.parse_args()

distributed.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
model = nn.Sequential(*(FullyShardedDataParallel(nn.Linear(options.width, options.width).cuda()) for _ in range(options.layers)))
model = FullyShardedDataParallel(model)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    model(torch.zeros(options.batch, options.width, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
distributed.destroy_process_group()
