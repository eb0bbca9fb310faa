// The memory that JAX's environment sets up on a device of a given size: which allocator, how large its pool,
// preallocated or growing, one end or two (xla/pjrt/c/pjrt_c_api_gpu_internal.cc, xla/pjrt/gpu/gpu_helpers.cc; the
// table is in README.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "allocator/reference/catalog/catalog.h"
#include "allocator/reference/catalog/jax_plugin_options.h"

namespace hbmscope::allocator {

// The supported variables. In XLA_FLAGS only one flag is supported; XLA_FLAGS without it is refused.
std::span<const std::string_view> jax_setting_names();
inline constexpr std::string_view jax_partitioning_flag = "--xla_gpu_enable_allocator_spatial_partitioning=";

struct JaxMemory {
  AllocatorOptions options;       // For default memory: xla_gpu, platform, cuda_async or vmm.
  std::uint64_t granularity = 1;  // The unit of regions, as the driver allocates them.
  bool is_unified = false;        // Host memory can be used too, so the device's size is not a limit.
  // JAX's separate pool of collective memory, which exists only without two ends: its maximum size, or the size claimed
  // at once. 0: no such pool.
  std::uint64_t collective_limit_bytes = 0;
  bool is_collective_preallocated = false;
  std::vector<std::string> notes;  // What a user may not expect; sentences without a full stop.
};

// For a device with `device_bytes` of total memory, and the allocator of `version` and the jaxlib that ships it.
// Without preallocation, or with partitioning switched off, a version with two ends runs as classic_align. Error:
// settings that JAX refuses, with what JAX then does, or that are not supported here; a sentence without a full stop.
tl::expected<JaxMemory, std::string> memory_from_settings(std::span<const Setting> settings, std::uint64_t device_bytes,
                                                          xla_gpu::Version version);

// The same for JAX's other pools, which are BFC too (CreateCollectiveBFCAllocator and GetGpuHostAllocator in
// gpu_helpers.cc): collective memory, if it has a separate pool, and pinned memory of the host.
tl::expected<JaxMemory, std::string> collective_memory_from_settings(std::span<const Setting> settings,
                                                                     std::uint64_t device_bytes,
                                                                     xla_gpu::Version version);
tl::expected<JaxMemory, std::string> pinned_memory_from_settings(std::span<const Setting> settings,
                                                                 std::uint64_t device_bytes, xla_gpu::Version version);

}  // namespace hbmscope::allocator
