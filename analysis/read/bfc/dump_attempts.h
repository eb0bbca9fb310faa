// Memory dumps that belong to one failure. XLA and TensorFlow try a request again for ten seconds before they give up,
// and write a file at each attempt: PREFIX_ALLOCATOR.TIME, such as dump_GPU_0_bfc.1764229730123456, whose time is
// microseconds since 1970 (tsl/framework/bfc_allocator.cc, allocator_retry.cc).
//
// Dumps are attempts of one failure if they have the same prefix and allocator, the later ones were written within
// attempts_us_max of the first, no allocation was undone in between (num_allocs), and at least half of the bytes in use
// are in the same chunks. Files under other names stay alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/read/bfc/bfc_dump.h"

namespace hbmscope::bfc {

constexpr std::int64_t attempts_us_max = 15'000'000;  // Ten seconds, and the time to write the files.

// The time in the name of a dump, in microseconds since 1970; nothing if the name has none. `name` may be a path, and
// have endings of compression.
std::optional<std::int64_t> time_us_of_dump(std::string_view name);

struct NamedDump {
  std::string_view name;
  const Dump* dump = nullptr;
};
// Indices into `dumps`, by failure: its attempts, oldest first. Failures are in the order of their first files.
std::vector<std::vector<std::size_t>> find_attempts(std::span<const NamedDump> dumps);

}  // namespace hbmscope::bfc
