// What becomes of JAX's environment on a device of a size: which allocator, how large its pool, claimed at once or
// growing, with one end or two (xla/pjrt/c/pjrt_c_api_gpu_internal.cc, xla/pjrt/gpu/gpu_helpers.cc; the table is in
// README.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "allocator/catalog/catalog.h"
#include "allocator/jax/plugin_options.h"

namespace hbmscope::allocator {

// The variables that are known here. Of XLA_FLAGS only one flag is: with others alone in it, it is refused.
std::span<const std::string_view> jax_setting_names();
inline constexpr std::string_view jax_partitioning_flag = "--xla_gpu_enable_allocator_spatial_partitioning=";

struct JaxMemory {
  AllocatorOptions options;       // Of default memory: xla_gpu, platform, cuda_async or vmm.
  std::uint64_t granularity = 1;  // Of regions, as the driver hands them out.
  bool is_unified = false;        // Memory of the host counts too: the device's size is no limit.
  // Of the pool that collective memory has of its own, where there are not two ends: the most that it may become, or
  // what it claims at once. 0: there is none.
  std::uint64_t collective_limit_bytes = 0;
  bool is_collective_preallocated = false;
  std::vector<std::string> notes;  // What a person may not expect; sentences without a full stop.
};

// On a device with so many bytes in all, under the wanted version of the allocator and the jaxlib that has it. Without
// preallocation, or with partitioning switched off, a version with two ends runs as classic_align. Error: what JAX
// would refuse, with what it then does, or what is not known here; a sentence without a full stop.
tl::expected<JaxMemory, std::string> memory_from_settings(std::span<const Setting> settings, std::uint64_t device_bytes,
                                                          xla_gpu::Version version);

// The same for JAX's other pools, which are BFC too (CreateCollectiveBFCAllocator and GetGpuHostAllocator in
// gpu_helpers.cc): that of collective memory, where it has one of its own, and that of pinned memory of the host.
tl::expected<JaxMemory, std::string> collective_memory_from_settings(std::span<const Setting> settings,
                                                                     std::uint64_t device_bytes,
                                                                     xla_gpu::Version version);
tl::expected<JaxMemory, std::string> pinned_memory_from_settings(std::span<const Setting> settings,
                                                                 std::uint64_t device_bytes, xla_gpu::Version version);

}  // namespace hbmscope::allocator
