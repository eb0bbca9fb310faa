"""A training loop that goes on until its standard input ends, and reports its speed. It is attached to meanwhile.

    training.py torch|jax     prints how many steps it has made, with the time, ten times a second
"""

import os
import sys
import threading
import time

import cuda

if sys.argv[1] == "torch":
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(2048, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 2048)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())

    def step():
        model(torch.ones(512, 2048, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()

else:
    import jax
    import jax.numpy as jnp

    weights = jnp.ones((2048, 2048))
    train = jax.jit(lambda weights, inputs: weights - 0.01 * (inputs.T @ (inputs @ weights)), donate_argnums=0)

    def step():
        global weights
        weights = train(weights, jnp.ones((512, 2048))).block_until_ready()


is_over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), is_over.set()), daemon=True).start()
step()
pause, steps, reported = float(os.environ.get("JUDGE_PAUSE", 0)), 0, 0.0
while not is_over.is_set():
    step()
    time.sleep(pause)
    steps += 1
    if (now := time.monotonic()) - reported >= 0.1:
        reported = now
        cuda.report(steps=steps, at=now)
cuda.report(steps=steps, at=time.monotonic(), ended=True)
