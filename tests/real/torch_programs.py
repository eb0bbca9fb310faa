"""What runs in PyTorch on emulated devices: prints one line for each program, "passed" or the error.

    emulated.py build/release/emulated build/real/torch-2.9.1/bin/python torch_programs.py [PROGRAM ...]
"""

import os
import tempfile

import torch

import driver
from programs import run_programs


def account():
    """The driver's account of each device equals what PyTorch has reserved, but for contexts."""
    torch.cuda.synchronize()
    context = int(os.environ["HBMSCOPE_DEVICE_CONTEXT_BYTES"])
    for device in range(torch.cuda.device_count()):
        used, reserved = driver.used_bytes(device), torch.cuda.memory_reserved(device)
        if used not in (reserved, reserved + context):
            raise AssertionError(f"device {device}: the driver has {used} B, PyTorch has reserved {reserved} B")


def network():
    return torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 10)).cuda()


def fraction():
    """A limit on the pool, of PyTorch's own; the rest then runs with it."""
    limit = float(os.environ.get("MATRIX_MEMORY_FRACTION", 1))
    if limit == 1:
        return
    for device in range(torch.cuda.device_count()):
        torch.cuda.set_per_process_memory_fraction(limit, device)
    total = torch.cuda.get_device_properties(0).total_memory
    try:
        torch.empty(int(total * limit) + (64 << 20), dtype=torch.uint8, device="cuda")
    except RuntimeError:
        torch.empty(int(total * limit) - (64 << 20), dtype=torch.uint8, device="cuda")
        torch.cuda.empty_cache()
    else:
        raise AssertionError("a request above the limit was served")


def tensors():
    values = torch.arange(1 << 20)
    assert torch.equal(values.cuda().cpu(), values)


def training():
    model = network()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(torch.zeros(64, 1024, device="cuda")).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def out_of_memory():
    try:
        torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError if hasattr(torch, "OutOfMemoryError") else RuntimeError:
        pass
    else:
        raise AssertionError("a request for 1 TiB was served")
    torch.ones(1000, device="cuda").sum().item()


def graphs():
    model, inputs = network(), torch.zeros(64, 1024, device="cuda")
    model(inputs)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(inputs)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()


def profiler():
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        training()
    with tempfile.TemporaryDirectory() as folder:
        profile.export_chrome_trace(folder + "/trace.json")


def snapshot():
    torch.cuda.memory._record_memory_history()
    training()
    with tempfile.TemporaryDirectory() as folder:
        torch.cuda.memory._dump_snapshot(folder + "/s.pickle")
        assert os.path.getsize(folder + "/s.pickle") > 0
    torch.cuda.memory._record_memory_history(enabled=None)


def all_devices():
    first = torch.ones(1 << 20, device="cuda:0")
    for device in range(torch.cuda.device_count()):
        first.to(f"cuda:{device}").sum().item()


run_programs((fraction, tensors, training, out_of_memory, graphs, profiler, snapshot, all_devices), account)
