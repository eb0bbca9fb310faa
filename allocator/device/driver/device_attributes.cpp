#include "allocator/device/driver/device_attributes.h"

#include "allocator/device/model/settings.h"

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
    case attribute::max_threads_per_block:
    case attribute::max_block_dim_x:
    case attribute::max_block_dim_y: return 1024;
    case attribute::max_block_dim_z: return 64;
    case attribute::max_grid_dim_x:
    case attribute::max_pitch: return 2147483647;
    case attribute::max_grid_dim_y:
    case attribute::max_grid_dim_z: return 65535;
    case attribute::max_shared_memory_per_block: return 49152;
    case attribute::total_constant_memory:
    case attribute::max_registers_per_block:
    case attribute::max_registers_per_multiprocessor: return 65536;
    case attribute::warp_size:
    case attribute::texture_pitch_alignment: return 32;
    case attribute::clock_rate: return 1'980'000;         // kHz
    case attribute::memory_clock_rate: return 2'619'000;  // kHz
    case attribute::memory_bus_width: return 5120;        // Bits.
    case attribute::l2_cache_size: return 52'428'800;
    case attribute::texture_alignment: return 512;
    case attribute::multiprocessor_count: return settings().multiprocessors;
    case attribute::pci_bus_id: return first_pci_bus + physical_ordinal;
    case attribute::compute_capability_major: return settings().compute_major;
    case attribute::compute_capability_minor: return settings().compute_minor;
    case attribute::max_threads_per_multiprocessor: return device.threads_per_sm;
    case attribute::max_blocks_per_multiprocessor: return device.blocks_per_sm;
    case attribute::max_shared_memory_per_multiprocessor: return device.shared_bytes_per_sm;
    case attribute::max_shared_memory_per_block_optin: return device.shared_bytes_per_block_max;
    case attribute::reserved_shared_memory_per_block: return settings().compute_major >= 8 ? 1024 : 0;
    case attribute::async_engine_count: return 3;
    case attribute::single_to_double_ratio: return 2;
    case attribute::cluster_launch:
    case attribute::tensor_map_access: return settings().compute_major >= 9 ? 1 : 0;
    // Features that each device here has. The pools can be shared as file descriptors.
    case attribute::gpu_overlap:
    case attribute::can_map_host_memory:
    case attribute::concurrent_kernels:
    case attribute::ecc_enabled:
    case attribute::unified_addressing:
    case attribute::stream_priorities:
    case attribute::global_l1_cache:
    case attribute::local_l1_cache:
    case attribute::managed_memory:
    case attribute::concurrent_managed_access:
    case attribute::compute_preemption:
    case attribute::host_pointer_for_registered:
    case attribute::cooperative_launch:
    case attribute::host_register:
    case attribute::virtual_memory_management:
    case attribute::posix_file_handles:
    case attribute::memory_pools:
    case attribute::pool_handle_types:
    case attribute::stream_mem_ops_64:
    case attribute::stream_wait_nor: return 1;
    default: return 0;
  }
}

}  // namespace hbmscope::device::driver
