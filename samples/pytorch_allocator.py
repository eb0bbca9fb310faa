#!/usr/bin/env python3
"""PyTorch on hbmscope's allocators: how JAX's pool would serve these tensors.

    hbmscope run -- samples/pytorch_allocator.py build/release/allocator/reference/libraries/libhbmscope_pytorch.so
    HBMSCOPE_ALLOCATOR=pytorch samples/pytorch_allocator.py ...       # or PyTorch's own rules, or cuda_async, naive
    XLA_CLIENT_MEM_FRACTION=.5 samples/pytorch_allocator.py ...       # JAX's variables size the pool

Needs PyTorch 2.4 or newer with CUDA, and a GPU. Not yet tested on a GPU.
"""
import ctypes
import sys

import torch


def use_hbmscope(path):
    """Must be called before the first tensor: later PyTorch does not accept another allocator."""
    pool = torch.cuda.memory.CUDAPluggableAllocator(path, "hbmscope_pytorch_malloc_or_throw", "hbmscope_pytorch_free")
    functions = ctypes.CDLL(path)
    hooks = {
        "set_record_stream_fn": "record_stream",
        "set_reset_fn": "reset",
        "set_begin_allocate_to_pool": "begin_allocate_to_pool",
        "set_end_allocate_to_pool_fn": "end_allocate_to_pool",
        "set_release_pool": "release_pool",
    }
    for hook, name in hooks.items():
        address = ctypes.cast(getattr(functions, f"hbmscope_pytorch_{name}"), ctypes.c_void_p).value
        getattr(pool.allocator(), hook)(address)
    torch.cuda.memory.change_current_allocator(pool)


def main():
    use_hbmscope(sys.argv[1])
    weights = torch.randn(4096, 4096, device="cuda")
    side = torch.cuda.Stream()
    for _ in range(10):
        activations = weights @ weights
        with torch.cuda.stream(side):
            side.wait_stream(torch.cuda.default_stream())
            norm = activations.norm()
        activations.record_stream(side)  # Its memory is not reused until the side stream is done with it.
        del activations
    print("norm", norm.item())
    try:
        torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
    except RuntimeError as refused:
        print(refused)


main()
