// The back end for PyTorch's caching allocator, which reports each block that it allocates and frees to
// c10::reportMemoryUsageToProfiler (c10/core/Allocator.h), profiler or not. Seen in PyTorch 2.4 to 2.15.
//
// In a job that is started with this library, libc10_cuda.so gets our functions by name; in one that is attached to,
// they are put into its table of functions. Each forwards to PyTorch's own, so that its profiler misses nothing.
//
// Sizes are those of blocks: PyTorch doesn't report here what was requested. It reports nothing with
// PYTORCH_NO_CUDA_MEMORY_CACHING, backend:cudaMallocAsync and allocators of other libraries, which are driver calls.
#pragma once

namespace hbmscope::inject {

// Takes the functions of libraries that were loaded since the last call. Needed only in an attached job.
void look_for_torch_pools();
// Puts everything back.
void leave_torch_pools();
void forget_torch_pool_locks();

}  // namespace hbmscope::inject
