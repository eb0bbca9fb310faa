"""Real PyTorch on the emulated device: tensors, training with convolutions and attention, out of memory.

    emulated.py build/release/emulated build/real/torch-2.9.1/bin/python torch_memory.py SETTINGS

SETTINGS is PYTORCH_CUDA_ALLOC_CONF, or "default". The driver's account without the context must equal
torch.cuda.memory_reserved() after every step.
"""

import os
import sys

if sys.argv[1] != "default":
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = sys.argv[1]

import torch

import driver

checks = driver.Checks()
context = int(os.environ["HBMSCOPE_DEVICE_CONTEXT_BYTES"])
total = int(os.environ["HBMSCOPE_DEVICE_BYTES"])


def check(what):
    used = driver.used_bytes()
    checks.equal(what, used - context, torch.cuda.memory_reserved())
    free, reported_total = torch.cuda.mem_get_info()
    checks.equal(f"{what}: mem_get_info", used, reported_total - free)
    checks.equal(f"{what}: total", total, reported_total)


def check_tensors():
    values = torch.arange(1_000_000)
    tensor = values.cuda()
    check("copy to the device")
    checks.true("a tensor comes back as it was copied", torch.equal(tensor.cpu(), values))
    checks.equal("zeros", torch.zeros(10, device="cuda").sum().item(), 0)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        other = tensor + 1
    other.record_stream(torch.cuda.current_stream())
    del other
    check("a side stream")


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 64, 16, stride=16)
        self.attention = torch.nn.MultiheadAttention(64, 4, batch_first=True)
        self.out = torch.nn.Linear(64, 1000)

    def forward(self, images):
        tokens = self.convolution(images).flatten(2).transpose(1, 2)
        return self.out(self.attention(tokens, tokens, tokens)[0].mean(1))


def check_training():
    network = Network().cuda()
    optimizer = torch.optim.AdamW(network.parameters())
    check("model")
    for step in range(5):
        images = torch.randn(32, 3, 224 + 16 * step, 224).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(network(images), torch.zeros(32, dtype=torch.long).cuda())
        check(f"forward {step}")
        loss.backward()
        check(f"backward {step}")
        optimizer.step()
        optimizer.zero_grad()
        check(f"step {step}")


def check_out_of_memory():
    torch.cuda.empty_cache()
    check("empty_cache")
    held = []
    try:
        while True:
            held.append(torch.empty(100_000_000, dtype=torch.uint8, device="cuda"))
    except torch.OutOfMemoryError:
        checks.true("nearly all memory is in use", driver.used_bytes() > total - 200_000_000)
    check("out of memory")
    held.clear()
    torch.cuda.empty_cache()
    check("everything freed")


torch.cuda.init()
check_tensors()
check_training()
check_out_of_memory()
checks.finish()
