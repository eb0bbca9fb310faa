// cudaDeviceProp, whose layout differs between CUDA 12 and 13. properties_check.cpp compares it with the headers.
#pragma once

#include <cstddef>

namespace hbmscope::device::runtime {

struct DeviceProperties {
  char name[256];
  unsigned char uuid[16];
  char luid[8];
  unsigned luid_node_mask;
  std::size_t total_bytes, shared_bytes_per_block;
  int registers_per_block, warp_size;
  std::size_t pitch_max;
  int threads_per_block_max, block_dimensions_max[3], grid_dimensions_max[3];
#if HBMSCOPE_CUDA_MAJOR == 12
  int clock_rate_khz;
#endif
  std::size_t constant_bytes;
  int compute_major, compute_minor;
  std::size_t texture_alignment, texture_pitch_alignment;
#if HBMSCOPE_CUDA_MAJOR == 12
  int device_overlap, multiprocessors, kernel_timeout, is_integrated, can_map_host_memory, compute_mode;
  int textures_and_surfaces[40];
#else
  int multiprocessors, is_integrated, can_map_host_memory;
  int textures_and_surfaces[39];
#endif
  std::size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc_driver, async_engines, unified_addressing;
#if HBMSCOPE_CUDA_MAJOR == 12
  int memory_clock_rate_khz;
#endif
  int memory_bus_bits, l2_cache_bytes, persisting_l2_bytes_max, threads_per_multiprocessor, stream_priorities;
  int global_l1_cache, local_l1_cache;
  std::size_t shared_bytes_per_multiprocessor;
  int registers_per_multiprocessor, managed_memory, is_multi_gpu_board, multi_gpu_board_group, host_native_atomics;
#if HBMSCOPE_CUDA_MAJOR == 12
  int single_to_double_ratio;
#endif
  int pageable_memory_access, concurrent_managed_access, compute_preemption, host_pointer_for_registered;
  int cooperative_launch;
#if HBMSCOPE_CUDA_MAJOR == 12
  int cooperative_multi_device_launch;
#endif
  std::size_t shared_bytes_per_block_optin;
  int host_page_tables, direct_managed_access, blocks_per_multiprocessor, access_policy_window_max;
  std::size_t reserved_shared_bytes_per_block;
  int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, memory_pools, gpu_direct;
  unsigned gpu_direct_flush;
  int gpu_direct_ordering;
  unsigned pool_handle_types;
  int deferred_mapping, ipc_events, cluster_launch, unified_function_pointers;
  int reserved[63];
};

}  // namespace hbmscope::device::runtime
