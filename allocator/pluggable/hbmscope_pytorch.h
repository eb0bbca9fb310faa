// libhbmscope_pytorch.so: hbmscope's allocators under PyTorch, through torch.cuda.memory.CUDAPluggableAllocator. The
// signatures are those that PyTorch calls (torch/csrc/cuda/CUDAPluggableAllocator.h). All may be called from any
// thread.
//
// Which allocator, and how large its pool, the environment says at the first request on each device: JAX's variables
// as JAX reads them (allocator/jax/README.md), HBMSCOPE_ALLOCATOR with a name of allocator/README.md, which for
// "pytorch" brings PYTORCH_CUDA_ALLOC_CONF, and HBMSCOPE_ALLOCATOR_VERSION.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <utility>

#define HBMSCOPE_PYTORCH __attribute__((visibility("default")))

extern "C" {

// `stream` is a cudaStream_t. Null: nothing was asked for, or it failed; then the reason was written to standard error
// once, and hbmscope_pytorch_error has it. PyTorch takes null for an address: give it the next one.
HBMSCOPE_PYTORCH void* hbmscope_pytorch_malloc(ssize_t bytes, int device, void* stream) noexcept;
// The same, but throws std::bad_alloc with the reason, which PyTorch hands to the Python program as a RuntimeError.
HBMSCOPE_PYTORCH void* hbmscope_pytorch_malloc_or_throw(ssize_t bytes, int device, void* stream);
// The block can be taken on this stream at once, on others when this one has come so far. Null does nothing.
HBMSCOPE_PYTORCH void hbmscope_pytorch_free(void* address, ssize_t bytes, int device, void* stream) noexcept;
// Why this thread's last request failed; an empty text: it did not. Valid until this thread's next call.
HBMSCOPE_PYTORCH const char* hbmscope_pytorch_error() noexcept;

// The hooks of CUDAPluggableAllocator, by the names of what sets them.
HBMSCOPE_PYTORCH void hbmscope_pytorch_record_stream(void* address, void* stream) noexcept;  // set_record_stream_fn
HBMSCOPE_PYTORCH void hbmscope_pytorch_reset() noexcept;  // set_reset_fn: torch.cuda.empty_cache()
}

// set_begin_allocate_to_pool: before a graph is captured, or a torch.cuda.MemPool is used. Throws std::runtime_error:
// memory of graphs is not offered. The parameters are PyTorch's own types, so this is C++.
HBMSCOPE_PYTORCH void hbmscope_pytorch_begin_allocate_to_pool(
    int device, std::pair<unsigned long long, unsigned long long> pool,
    std::function<bool(void*)> filter) __asm__("hbmscope_pytorch_begin_allocate_to_pool");
// set_end_allocate_to_pool_fn and set_release_pool: nothing, since no pool has begun.
HBMSCOPE_PYTORCH void hbmscope_pytorch_end_allocate_to_pool(
    int device, std::pair<unsigned long long, unsigned long long> pool) noexcept
    __asm__("hbmscope_pytorch_end_allocate_to_pool");
HBMSCOPE_PYTORCH void hbmscope_pytorch_release_pool(int device,
                                                    std::pair<unsigned long long, unsigned long long> pool) noexcept
    __asm__("hbmscope_pytorch_release_pool");
