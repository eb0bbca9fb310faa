// The back end for the pools of XLA and TensorFlow: the virtual functions of tsl::BFCAllocator, and of
// stream_executor::GpuCudaMallocAsyncAllocator, which has the same base. Seen with JAX 0.4.38, 0.6.2 and 0.10.2 on
// CUDA and with TensorFlow 2.20; the table of JAX 0.12 (CUDA, ROCm) has three functions more, as the stand-in in
// tests/collector/pools.
//
// The library that carries the class does not export it. So its table of virtual functions is found by its symbol in
// the library's file, and each slot by the symbol of the function that it points to: numbers of slots differ between
// versions. Slots whose function is not found are left alone, and so is the whole table if one of those that are needed
// is missing.
#pragma once

namespace hbmscope::inject {

// Looks at libraries that were loaded since the last call, and takes the tables found there. Cheap if there are none.
void look_for_xla_pools();
// Puts everything back. Calls in progress go on and report nothing more.
void leave_xla_pools();
// Called in a child after fork(): a thread that was looking doesn't exist here.
void forget_xla_pool_locks();

}  // namespace hbmscope::inject
