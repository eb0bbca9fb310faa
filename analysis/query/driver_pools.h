// The driver's memory pools (cuMemAllocAsync), as the job's driver reports them over time. What a pool has reserved
// from the device and no block has is *kept by the pool*: neither in use nor free for other allocations, until the pool
// returns it to the device.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/trace/stream.h"

namespace hbmscope {

// Sums over the pools of one heap, in bytes.
struct DriverPools {
  std::uint64_t reserved_bytes = 0;  // Taken from the device.
  std::uint64_t used_bytes = 0;      // In blocks, as the driver rounds them.
  std::uint64_t kept_bytes = 0;      // The difference.
};

// The last reports among the first `position` events of the stream. Nothing: none were made, because the job used no
// pool, or because its driver could not be queried (after an attach).
std::optional<DriverPools> find_driver_pools(const Stream& stream, std::uint32_t heap, std::uint64_t position);

}  // namespace hbmscope
