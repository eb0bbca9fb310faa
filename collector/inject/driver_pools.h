// The driver's memory pools (cuMemAllocAsync and the like): what each has reserved from its device, and how much of it
// is in blocks. The difference is kept by the pool: no block has it, and no other allocation can get it until the pool
// returns it. With the default release threshold, 0, it does so at the next synchronization; PyTorch's back end
// cudaMallocAsync sets the threshold to its maximum, so that the memory stays. The rules are CUDA's: Programming Guide,
// "Stream Ordered Memory Allocator". All figures are in bytes.
//
// No call reports these figures, so the driver is queried (cuMemPoolGetAttribute, hipMemPoolGetAttribute): after a call
// that allocates memory from a pool, frees it, trims the pool or changes its threshold, and after a synchronization, on
// the thread that has made the call. In a callback of CUPTI the driver can't be queried, so our entry point asks when
// the same call returns to it; a job that was attached to has no such entry point, and its pools stay unknown. Pools
// that were imported from another process are left out, since their memory counts there.
#pragma once

#include "collector/inject/driver_rows.h"

namespace hbmscope::inject::driver {

// That of the pool's device; of the thread's device if the pool is unknown.
std::uint32_t heap_of_pool(const DriverCall& call, Object pool);
RefusedRequest of_pool(Size bytes, Object pool);  // By a call that names the pool.
// The program has made a pool, or asked for one that exists.
void note_pool(const DriverCall& call, Object pool, Device device);
void note_pool(const DriverCall& call, Object pool, int type, Location location);
// The program has made it the one from which cuMemAllocAsync allocates memory on its device.
void note_current_pool(Object pool);
// Called before it is destroyed: it is not queried any more, and no thread is in a query when this returns.
void retire_pool(Object pool);
void forget_pool(const DriverCall& call, Object pool);
// The same for all pools of the thread's device (HIP).
void retire_pools(const DriverCall& call);
void forget_pools(const DriverCall& call);

void report_pool_block(const DriverCall& call, Object pool, Address at, Size bytes, Object stream);
void report_current_pool_block(const DriverCall& call, Address at, Size bytes, Object stream);
void report_free_in_stream(const DriverCall& call, Address at, Object stream);
// The pool was trimmed, or its threshold was set.
void report_pool(const DriverCall& call, Object pool);
// The program has waited for the stream, or for something else on the thread's device.
void report_pools_after_wait(const DriverCall& call, Object stream);
void report_pools_after_wait(const DriverCall& call);
// What callbacks of CUPTI have left to this entry point.
void report_waiting_pools(const DriverCall& call);

// Called in a child after fork(), and at an attach: nothing has been reported to this observer.
void forget_pool_figures();

}  // namespace hbmscope::inject::driver
