// Reads a request stream: JSON lines, plain or zstd.
//
//   {"config": {"total_bytes": 67108864, "allow_growth": 0, "spatial": 1}}     the first line
//   {"region": 0, "size": 67108864, "asked": 67108864, "base": "0x100000000000"}
//   ["a", 1, 1000, 0, 0, 1024]                  1,000 B requested as id 1: region 0, offset 0, a chunk of 1,024 B
//   ["a", 2, 5000, "oom", {"end": "u", "align": 4096}]
//   ["f", 1]
//   ["f", 2, "noop"]                            the free of a failed request: no effect
//   {"snap": 3, "bytes_in_use": 0, ...}         the state after 3 operations
//   {"final": 3, "bins": [...], ...}
//
// Other keys of config: garbage_collection, fragmentation_fraction, device_bytes (memory of the driver), granularity
// and placement (asc, desc, reuse) of regions, snapshot_every, recorded_driver (1: the regions are those of a real
// driver, request_stream.h). Regions that were claimed ("region"), refused
// ("suballoc_fail") and released ("region_free") precede the operation during which it happened. Results, regions and
// states may be missing: such a stream can be replayed, but not checked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allocator/reference/replay/request_stream.h"
#include "analysis/model/result.h"

namespace hbmscope {

struct ReadRequests {
  allocator::RequestStream stream;
  std::vector<std::string> unknown_config;  // Unknown keys of config; they had no effect.
};

// Decides by the first bytes: zstd, or a line that begins like a configuration.
bool looks_like_requests(std::span<const std::uint8_t> bytes);

// Errors: no configuration, an invalid line (with its number), a free of an id that was never allocated or freed
// already, an id allocated again before its free, damaged zstd.
Result<ReadRequests> read_requests(std::span<const std::uint8_t> bytes, const std::string& name,
                                   std::uint64_t max_inflated_bytes);

}  // namespace hbmscope
