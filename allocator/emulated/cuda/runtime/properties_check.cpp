// Compiled where a toolkit's driver_types.h exists: device_properties.h must agree with it, in that major version.
#include <cuda_runtime_api.h>

#include <cstddef>

#define HBMSCOPE_CUDA_MAJOR (CUDART_VERSION / 1000)
#include "allocator/emulated/cuda/runtime/device_properties.h"

namespace hbmscope::device::runtime {

#define SAME_PLACE(theirs, ours) static_assert(offsetof(cudaDeviceProp, theirs) == offsetof(DeviceProperties, ours))
static_assert(sizeof(cudaDeviceProp) == sizeof(DeviceProperties));
SAME_PLACE(totalGlobalMem, total_bytes);
SAME_PLACE(major, compute_major);
SAME_PLACE(multiProcessorCount, multiprocessors);
SAME_PLACE(surfaceAlignment, surface_alignment);
SAME_PLACE(l2CacheSize, l2_cache_bytes);
SAME_PLACE(regsPerMultiprocessor, registers_per_multiprocessor);
SAME_PLACE(sharedMemPerBlockOptin, shared_bytes_per_block_optin);
SAME_PLACE(reservedSharedMemPerBlock, reserved_shared_bytes_per_block);
SAME_PLACE(clusterLaunch, cluster_launch);
SAME_PLACE(unifiedFunctionPointers, unified_function_pointers);

}  // namespace hbmscope::device::runtime
