"""What runs in torch_xla on an emulated TPU slice: prints one line for each program, "passed" or the error.

    hbmscope run --emulate v5e:2x2 -- python torch_xla_programs.py PROGRAM ...

`spmd_training` and `launch` are alone in their process. All sizes are whole tiles, so that a tensor takes what it has.
"""

import gc
import math
import os

import numpy as np
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.spmd as spmd
import torch_xla.runtime as runtime
from torch_xla.utils.checkpoint import checkpoint

from programs import run_programs

MIB = 1 << 20


def in_use(device="xla:0"):
    gc.collect()
    torch_xla.sync()
    xm.wait_device_ops()
    return xm.get_memory_info(device)["bytes_used"]


def expect(found, expected, what):
    assert found == expected, f"{what}: {found} B, expected {expected} B"


def linear_layers(width, count):
    return torch.nn.Sequential(*(torch.nn.Linear(width, width, bias=False) for _ in range(count)))


def train(model, optimizer, batch, steps=3):
    for _ in range(steps):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        torch_xla.sync()


def tensors():
    torch.ones(8, device=torch_xla.device()) * 2  # The constant stays.
    before = in_use()
    kept = [torch.ones(1024, 1024, device=torch_xla.device()) * 2 for _ in range(3)]
    kept.append(torch.zeros(512, 1024, dtype=torch.bfloat16).to(torch_xla.device()))
    expect(in_use() - before, 13 * MIB, "four tensors")
    del kept[:3]
    expect(in_use() - before, MIB, "one of them")
    assert kept[0].cpu().shape == (512, 1024)


def training():
    before = in_use()
    model = linear_layers(1024, 4).to(torch_xla.device())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    batch = torch.randn(128, 1024, device=torch_xla.device())
    train(model, optimizer, batch)
    optimizer.zero_grad()
    state = in_use() - before
    # Weights, momentum and the batch; scalars beside them.
    assert 0 <= state - (4 * 4 * MIB * 2 + MIB // 2) < MIB // 8, f"the state of the training takes {state} B"


def donation():
    tensor = torch.ones(64 * MIB // 4 // 1024, 1024, device=torch_xla.device())
    before = in_use()
    for _ in range(3):
        tensor.add_(1)
        torch_xla.sync()
    expect(in_use(), before, "after updates in place")


def checkpointing():
    layers = linear_layers(1024, 4).to(torch_xla.device())
    batch = torch.randn(4096, 1024, device=torch_xla.device(), requires_grad=True)
    hidden = batch
    for layer in layers:
        hidden = checkpoint(lambda x, layer=layer: layer(x).relu(), hidden, use_reentrant=True)
    hidden.sum().backward()
    torch_xla.sync()
    assert batch.grad is not None


def out_of_memory():
    kept = []
    try:
        for i in range(1000):
            kept.append(torch.zeros(1024, 1024, 1024, device=torch_xla.device()) + i)
            torch_xla.sync()
            xm.wait_device_ops()
    except RuntimeError as error:
        assert "allocat" in str(error), str(error)
        return
    raise AssertionError("no error was raised")


def spmd_training():
    runtime.use_spmd()
    count = runtime.global_runtime_device_count()
    mesh = spmd.Mesh(np.arange(count), (count,), ("fsdp",))
    model = linear_layers(4096, 4).to(torch_xla.device())
    for weight in model.parameters():
        spmd.mark_sharding(weight, mesh, ("fsdp", None))
    batch = torch.randn(1024, 4096).to(torch_xla.device())
    spmd.mark_sharding(batch, mesh, ("fsdp", None))
    train(model, torch.optim.AdamW(model.parameters()), batch)
    assert "devices=" in torch_xla._XLAC._get_xla_sharding_spec(next(model.parameters()))


def replica(index):
    tensor = torch.ones(1024, 1024, device=torch_xla.device()) * 2
    total = xm.all_reduce(xm.REDUCE_SUM, tensor)
    torch_xla.sync()
    chips = math.prod(int(side) for side in os.environ["HBMSCOPE_TPU_TOPOLOGY"].split(":")[1].split("x"))
    assert runtime.world_size() == chips, f"{runtime.world_size()} of {chips} chips"
    assert total.cpu().shape == (1024, 1024)


def launch():
    torch_xla.launch(replica)


if __name__ == "__main__":
    run_programs((tensors, training, donation, checkpointing, out_of_memory, spmd_training, launch), lambda: None)
