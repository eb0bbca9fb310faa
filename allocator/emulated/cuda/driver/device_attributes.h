// What cuDeviceGetAttribute answers. Limits follow from the compute capability (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability"); clocks and caches are those of an H100 whatever the device.
#pragma once

// (our name, CUdevice_attribute's number, its name after CU_DEVICE_ATTRIBUTE_)
#define HBMSCOPE_DEVICE_ATTRIBUTES(X)                                               \
  X(max_threads_per_block, 1, MAX_THREADS_PER_BLOCK)                                \
  X(max_block_dim_x, 2, MAX_BLOCK_DIM_X)                                            \
  X(max_block_dim_y, 3, MAX_BLOCK_DIM_Y)                                            \
  X(max_block_dim_z, 4, MAX_BLOCK_DIM_Z)                                            \
  X(max_grid_dim_x, 5, MAX_GRID_DIM_X)                                              \
  X(max_grid_dim_y, 6, MAX_GRID_DIM_Y)                                              \
  X(max_grid_dim_z, 7, MAX_GRID_DIM_Z)                                              \
  X(max_shared_memory_per_block, 8, MAX_SHARED_MEMORY_PER_BLOCK)                    \
  X(total_constant_memory, 9, TOTAL_CONSTANT_MEMORY)                                \
  X(warp_size, 10, WARP_SIZE)                                                       \
  X(max_pitch, 11, MAX_PITCH)                                                       \
  X(max_registers_per_block, 12, MAX_REGISTERS_PER_BLOCK)                           \
  X(clock_rate, 13, CLOCK_RATE)                                                     \
  X(texture_alignment, 14, TEXTURE_ALIGNMENT)                                       \
  X(gpu_overlap, 15, GPU_OVERLAP)                                                   \
  X(multiprocessor_count, 16, MULTIPROCESSOR_COUNT)                                 \
  X(can_map_host_memory, 19, CAN_MAP_HOST_MEMORY)                                   \
  X(concurrent_kernels, 31, CONCURRENT_KERNELS)                                     \
  X(ecc_enabled, 32, ECC_ENABLED)                                                   \
  X(pci_bus_id, 33, PCI_BUS_ID)                                                     \
  X(memory_clock_rate, 36, MEMORY_CLOCK_RATE)                                       \
  X(memory_bus_width, 37, GLOBAL_MEMORY_BUS_WIDTH)                                  \
  X(l2_cache_size, 38, L2_CACHE_SIZE)                                               \
  X(max_threads_per_multiprocessor, 39, MAX_THREADS_PER_MULTIPROCESSOR)             \
  X(async_engine_count, 40, ASYNC_ENGINE_COUNT)                                     \
  X(unified_addressing, 41, UNIFIED_ADDRESSING)                                     \
  X(texture_pitch_alignment, 51, TEXTURE_PITCH_ALIGNMENT)                           \
  X(compute_capability_major, 75, COMPUTE_CAPABILITY_MAJOR)                         \
  X(compute_capability_minor, 76, COMPUTE_CAPABILITY_MINOR)                         \
  X(stream_priorities, 78, STREAM_PRIORITIES_SUPPORTED)                             \
  X(global_l1_cache, 79, GLOBAL_L1_CACHE_SUPPORTED)                                 \
  X(local_l1_cache, 80, LOCAL_L1_CACHE_SUPPORTED)                                   \
  X(max_shared_memory_per_multiprocessor, 81, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) \
  X(max_registers_per_multiprocessor, 82, MAX_REGISTERS_PER_MULTIPROCESSOR)         \
  X(managed_memory, 83, MANAGED_MEMORY)                                             \
  X(single_to_double_ratio, 87, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO)              \
  X(concurrent_managed_access, 89, CONCURRENT_MANAGED_ACCESS)                       \
  X(compute_preemption, 90, COMPUTE_PREEMPTION_SUPPORTED)                           \
  X(host_pointer_for_registered, 91, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)       \
  X(cooperative_launch, 95, COOPERATIVE_LAUNCH)                                     \
  X(max_shared_memory_per_block_optin, 97, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)       \
  X(host_register, 99, HOST_REGISTER_SUPPORTED)                                     \
  X(virtual_memory_management, 102, VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)            \
  X(posix_file_handles, 103, HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)           \
  X(max_blocks_per_multiprocessor, 106, MAX_BLOCKS_PER_MULTIPROCESSOR)              \
  X(reserved_shared_memory_per_block, 111, RESERVED_SHARED_MEMORY_PER_BLOCK)        \
  X(memory_pools, 115, MEMORY_POOLS_SUPPORTED)                                      \
  X(pool_handle_types, 119, MEMPOOL_SUPPORTED_HANDLE_TYPES)                         \
  X(cluster_launch, 120, CLUSTER_LAUNCH)                                            \
  X(stream_mem_ops_64, 122, CAN_USE_64_BIT_STREAM_MEM_OPS)                          \
  X(stream_wait_nor, 123, CAN_USE_STREAM_WAIT_VALUE_NOR)                            \
  X(tensor_map_access, 127, TENSOR_MAP_ACCESS_SUPPORTED)

namespace hbmscope::device::driver {

namespace device_attribute {
#define X(name, number, theirs) inline constexpr int name = number;
HBMSCOPE_DEVICE_ATTRIBUTES(X)
#undef X
}  // namespace device_attribute

// The dimensions of a launch, the same for every compute capability of 3.0 or more.
struct Dimensions {  // dim3
  unsigned x, y, z;
};
inline constexpr Dimensions grid_max{2147483647, 65535, 65535}, block_max{1024, 1024, 64};
inline constexpr unsigned threads_per_block_max = 1024;

inline constexpr int first_pci_bus = 0x10;  // The bus of device 0.

// 0 for attributes that are not in the list above: not supported.
int value_of_attribute(int which, int physical_ordinal);

}  // namespace hbmscope::device::driver
