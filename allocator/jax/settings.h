// What JAX makes of its environment variables: how large the pool is, whether it is claimed at once, and whether it has
// two ends (jaxlib/xla_client.py, xla/pjrt/gpu/gpu_helpers.cc; the table is in README.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <tl/expected.hpp>

#include "allocator/xla_gpu/bfc.h"

namespace hbmscope::allocator {

struct Setting {
  std::string name, value;  // "XLA_CLIENT_MEM_FRACTION", ".9"
};

struct JaxPool {
  xla_gpu::Options options;
  std::uint64_t granularity = 1;  // Of regions, as the driver hands them out.
};

// Of the pool for default memory on a device with so many bytes in all, under the wanted version. Without
// preallocation, or with partitioning switched off, a version with two ends runs as classic_align. Error: what JAX
// would refuse, or what has no effect here and is not JAX's; a sentence without a full stop.
tl::expected<JaxPool, std::string> pool_from_settings(std::span<const Setting> settings, std::uint64_t device_bytes,
                                                      xla_gpu::Version version);

}  // namespace hbmscope::allocator
