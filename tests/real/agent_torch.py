"""A job for agent_test.py: a training loop, a list that grows, and an out-of-memory that is caught.

    agent_torch.py [RECORDING]     with RECORDING: has itself observed
"""

import sys
import time

import torch

import hbmscope

history = []
total = 0


def train():
    global total
    model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 1024)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.zeros((512, 1024), device="cuda")
    for i in range(30):
        optimizer.zero_grad()
        output = model(batch)
        with hbmscope.tag("loss"):
            loss = (output * output).mean()
        total = total + loss
        loss.backward(retain_graph=True)
        optimizer.step()
        if i % 3 == 0:
            history.append(output.detach() * 2)
        time.sleep(0.005)
    # Asked for their graphs, these refuse: views of what was changed in place.
    doubled = torch.ones((512,), device="cuda", requires_grad=True) * 2
    parts = doubled.split(256)
    doubled.mul_(2)
    hbmscope.mark("epoch")
    hbmscope.snapshot()
    try:
        torch.zeros((1 << 32,), device="cuda")
    except torch.OutOfMemoryError if hasattr(torch, "OutOfMemoryError") else torch.cuda.OutOfMemoryError as error:
        print(type(error).__name__)


torch.zeros((8,), device="cuda")
if len(sys.argv) > 1:
    hbmscope.start(sys.argv[1])
train()
torch.cuda.synchronize()
print(torch.cuda.max_memory_allocated(), len(history), torch.cuda.memory_stats()["allocation.all.allocated"])
hbmscope.stop()
# The job's own profiler, now that hbmscope has left.
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
    kept = torch.zeros((1 << 20,), device="cuda")
print(sum(getattr(event, "device_memory_usage", 0) or getattr(event, "cuda_memory_usage", 0) for event in profile.key_averages()))
