// libhbmscope_pytorch.so: runs PyTorch on hbmscope's allocators, through torch.cuda.memory.CUDAPluggableAllocator. The
// signatures are those that PyTorch calls (torch/csrc/cuda/CUDAPluggableAllocator.h). All functions are thread-safe.
//
// At the first request on each device, the environment decides which allocator is used and how large its pool is: JAX's
// variables, read as JAX reads them (allocator/reference/catalog/README.md); HBMSCOPE_ALLOCATOR, a name from
// allocator/README.md
// ("pytorch" also reads PYTORCH_CUDA_ALLOC_CONF); and HBMSCOPE_ALLOCATOR_VERSION.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <utility>

#define HBMSCOPE_PYTORCH __attribute__((visibility("default")))

extern "C" {

// `stream` is a cudaStream_t. Returns null for 0 bytes and on failure. On failure the reason is written to standard
// error once and is available from hbmscope_pytorch_error. PyTorch treats null as a valid address: prefer the next
// function.
HBMSCOPE_PYTORCH void* hbmscope_pytorch_malloc(ssize_t bytes, int device, void* stream) noexcept;
// The same, but throws std::bad_alloc with the reason, which PyTorch passes to the Python program as a RuntimeError.
HBMSCOPE_PYTORCH void* hbmscope_pytorch_malloc_or_throw(ssize_t bytes, int device, void* stream);
// The block can be reused on this stream at once, and on others when this stream has reached the free. Null does
// nothing.
HBMSCOPE_PYTORCH void hbmscope_pytorch_free(void* address, ssize_t bytes, int device, void* stream) noexcept;
// Why this thread's last request failed, or empty if it did not. Valid until this thread's next call.
HBMSCOPE_PYTORCH const char* hbmscope_pytorch_error() noexcept;

// The hooks of CUDAPluggableAllocator, each with the function that sets it.
HBMSCOPE_PYTORCH void hbmscope_pytorch_record_stream(void* address, void* stream) noexcept;  // set_record_stream_fn
HBMSCOPE_PYTORCH void hbmscope_pytorch_reset() noexcept;  // set_reset_fn: torch.cuda.empty_cache()
}

// set_begin_allocate_to_pool: called before a graph is captured or a torch.cuda.MemPool is used. Throws
// std::runtime_error: memory for graphs is not supported. The parameters are PyTorch's types, so this is C++.
HBMSCOPE_PYTORCH void hbmscope_pytorch_begin_allocate_to_pool(
    int device, std::pair<unsigned long long, unsigned long long> pool,
    std::function<bool(void*)> filter) __asm__("hbmscope_pytorch_begin_allocate_to_pool");
// set_end_allocate_to_pool_fn and set_release_pool: they do nothing, since no pool ever begins.
HBMSCOPE_PYTORCH void hbmscope_pytorch_end_allocate_to_pool(
    int device, std::pair<unsigned long long, unsigned long long> pool) noexcept
    __asm__("hbmscope_pytorch_end_allocate_to_pool");
HBMSCOPE_PYTORCH void hbmscope_pytorch_release_pool(int device,
                                                    std::pair<unsigned long long, unsigned long long> pool) noexcept
    __asm__("hbmscope_pytorch_release_pool");
