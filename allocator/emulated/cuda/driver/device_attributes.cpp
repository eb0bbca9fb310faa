#include "allocator/emulated/cuda/driver/device_attributes.h"

#include "allocator/emulated/cuda/model/settings.h"

namespace hbmscope::device::driver {
namespace {

struct Limits {
  int compute;  // 10 x major + minor; a row also holds for the capabilities up to the next row.
  int threads_per_sm, blocks_per_sm, shared_bytes_per_sm, shared_bytes_per_block_max;
};
constexpr Limits limits[] = {
    {70, 2048, 32, 98304, 98304},   {75, 1024, 16, 65536, 65536},    {80, 2048, 32, 167936, 166912},
    {86, 1536, 16, 102400, 101376}, {87, 1536, 16, 167936, 166912},  {89, 1536, 24, 102400, 101376},
    {90, 2048, 32, 233472, 232448}, {120, 1536, 24, 102400, 101376},
};

const Limits& limits_of_device() {
  const int compute = settings().compute_major * 10 + settings().compute_minor;
  const Limits* best = &limits[0];
  for (const Limits& row : limits)
    if (row.compute <= compute) best = &row;
  return *best;
}

}  // namespace

int value_of_attribute(int which, int physical_ordinal) {
  const Limits& device = limits_of_device();
  switch (which) {
    case device_attribute::max_threads_per_block: return threads_per_block_max;
    case device_attribute::max_block_dim_x: return block_max.x;
    case device_attribute::max_block_dim_y: return block_max.y;
    case device_attribute::max_block_dim_z: return block_max.z;
    case device_attribute::max_grid_dim_x: return grid_max.x;
    case device_attribute::max_grid_dim_y: return grid_max.y;
    case device_attribute::max_grid_dim_z: return grid_max.z;
    case device_attribute::max_pitch: return 2147483647;
    case device_attribute::max_shared_memory_per_block: return 49152;
    case device_attribute::total_constant_memory:
    case device_attribute::max_registers_per_block:
    case device_attribute::max_registers_per_multiprocessor: return 65536;
    case device_attribute::warp_size:
    case device_attribute::texture_pitch_alignment: return 32;
    case device_attribute::clock_rate: return 1'980'000;         // kHz
    case device_attribute::memory_clock_rate: return 2'619'000;  // kHz
    case device_attribute::memory_bus_width: return 5120;        // Bits.
    case device_attribute::l2_cache_size: return 52'428'800;
    case device_attribute::texture_alignment: return 512;
    case device_attribute::multiprocessor_count: return settings().multiprocessors;
    case device_attribute::pci_bus_id: return first_pci_bus + physical_ordinal;
    case device_attribute::compute_capability_major: return settings().compute_major;
    case device_attribute::compute_capability_minor: return settings().compute_minor;
    case device_attribute::max_threads_per_multiprocessor: return device.threads_per_sm;
    case device_attribute::max_blocks_per_multiprocessor: return device.blocks_per_sm;
    case device_attribute::max_shared_memory_per_multiprocessor: return device.shared_bytes_per_sm;
    case device_attribute::max_shared_memory_per_block_optin: return device.shared_bytes_per_block_max;
    case device_attribute::reserved_shared_memory_per_block: return settings().compute_major >= 8 ? 1024 : 0;
    case device_attribute::async_engine_count: return 3;
    case device_attribute::single_to_double_ratio: return 2;
    case device_attribute::cluster_launch:
    case device_attribute::tensor_map_access: return settings().compute_major >= 9 ? 1 : 0;
    // Features that each device here has. The pools can be shared as file descriptors.
    case device_attribute::gpu_overlap:
    case device_attribute::can_map_host_memory:
    case device_attribute::concurrent_kernels:
    case device_attribute::ecc_enabled:
    case device_attribute::unified_addressing:
    case device_attribute::stream_priorities:
    case device_attribute::global_l1_cache:
    case device_attribute::local_l1_cache:
    case device_attribute::managed_memory:
    case device_attribute::concurrent_managed_access:
    case device_attribute::compute_preemption:
    case device_attribute::host_pointer_for_registered:
    case device_attribute::cooperative_launch:
    case device_attribute::host_register:
    case device_attribute::virtual_memory_management:
    case device_attribute::posix_file_handles:
    case device_attribute::memory_pools:
    case device_attribute::pool_handle_types:
    case device_attribute::stream_mem_ops_64:
    case device_attribute::stream_wait_nor: return 1;
    default: return 0;
  }
}

}  // namespace hbmscope::device::driver
