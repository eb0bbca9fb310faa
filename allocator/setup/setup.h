// An allocator from the words that name it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "allocator/catalog/catalog.h"
#include "allocator/jax/plugin_options.h"
#include "allocator/upstream/virtual_addresses.h"

namespace hbmscope::allocator {

// All may be empty, but for the size of the device.
struct SetupWords {
  std::string_view allocator;  // Of catalog.h; empty: as JAX's settings choose it.
  std::string_view version;    // Of xla_gpu, and the jaxlib that has it; empty: spatial_v1.
  std::span<const Setting> settings;
  std::uint64_t device_bytes = 0;  // All that the device has; above 0, below 2^60.
};

struct Setup {
  AllocatorOptions options;
  VirtualOptions upstream;  // The device: its size, the granularity of its regions.
  // Of the pool that JAX has for collective memory apart from this one; 0: there is none.
  std::uint64_t collective_limit_bytes = 0;
  bool is_collective_preallocated = false;
  std::vector<std::string> notes;  // What a person may not expect; sentences without a full stop.
};

// Error: a name that is not known, with those that are; what JAX or PyTorch would refuse; a sentence without a full
// stop.
tl::expected<Setup, std::string> set_up(const SetupWords& words);

// Error: no such name, and those that there are.
tl::expected<xla_gpu::Version, std::string> version_named(std::string_view name, xla_gpu::Version usual);
tl::expected<std::optional<Kind>, std::string> kind_named(std::string_view name);

}  // namespace hbmscope::allocator
