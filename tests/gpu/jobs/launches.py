"""How many launches of a small kernel PyTorch makes in a second: the best of five times."""

import threading
import time

import torch

import cuda

x = torch.zeros(1024, device="cuda")
for _ in range(2000):
    x.add_(1)
torch.cuda.synchronize()
if cuda.is_planted():
    threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()
best = 0
for _ in range(5):
    begun, count = time.perf_counter(), 0
    while time.perf_counter() - begun < 0.4:
        for _ in range(500):
            x.add_(1)
        torch.cuda.synchronize()
        count += 500
    best = max(best, count / (time.perf_counter() - begun))
cuda.report(launches_per_second=best)
cuda.leave()
