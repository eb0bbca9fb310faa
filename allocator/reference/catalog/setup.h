// Builds the options of an allocator from its name, version and settings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "allocator/reference/catalog/catalog.h"
#include "allocator/reference/catalog/jax_plugin_options.h"
#include "allocator/reference/interface/virtual_addresses.h"

namespace hbmscope::allocator {

// Everything may be empty except the size of the device.
struct SetupWords {
  std::string_view allocator;  // A name in catalog.h. If it is empty, JAX's settings choose.
  std::string_view version;    // For xla_gpu, and selects the jaxlib that ships it. If it is empty, the newest.
  std::span<const Setting> settings;
  std::uint64_t device_bytes = 0;  // The device's total memory; above 0, below 2^60.
};

struct Setup {
  AllocatorOptions options;
  VirtualOptions upstream;  // The device: its size and the granularity of its regions.
  // JAX's separate pool for collective memory. Without one it is 0.
  std::uint64_t collective_limit_bytes = 0;
  bool is_collective_preallocated = false;
  std::vector<std::string> notes;  // What a user may not expect; sentences without a full stop.
};

// Error: an unknown name, with the list of known ones, or what JAX or PyTorch refuses; a sentence without a full stop.
tl::expected<Setup, std::string> set_up(const SetupWords& words);

// Error: an unknown name, with the list of known ones.
tl::expected<xla_gpu::Version, std::string> version_named(std::string_view name, xla_gpu::Version usual);
tl::expected<std::optional<Kind>, std::string> kind_named(std::string_view name);

}  // namespace hbmscope::allocator
