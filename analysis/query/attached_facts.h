// For a process that was attached to while it ran: how much device memory it held right after, according to the driver,
// and how much of that the recording knows block by block. The rest was allocated before the recording. Also covers
// processes of which only the driver's figures were observed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

struct AttachedFacts {
  std::size_t stream = 0;
  bool is_left_alone = false;               // Nothing was loaded into it.
  std::int64_t since_start_ns = 0;          // When: since the stream's first event.
  std::optional<std::int64_t> realtime_ns;  // Since 1970.
  std::optional<std::uint64_t> held_bytes;  // On all devices, with the driver's own memory. Absent if unknown.
  std::int64_t reported_after_ns = 0;       // When the driver was queried, relative to attaching.
  std::uint64_t identified_bytes = 0;       // In use in device heaps at that time.
  // What its frameworks' pools had in use before, by their own sums, and what of that is in use and not identified in
  // the end. Absent if no pool reported it.
  std::optional<std::uint64_t> before_in_pools_bytes;
  std::uint64_t not_identified_bytes = 0;
  // How its CUDA driver calls are recorded in the end: "CUDA driver calls are recorded with CUPTI (...)", "... not
  // recorded: CUPTI is in use". Empty if unknown.
  std::string driver_calls;
  bool are_calls_recorded = false, may_be_recorded_later = false;  // Later: it has not loaded a driver yet.
  std::optional<std::int64_t> calls_since_ns;  // Since when, relative to attaching. Absent means from the start.
};

// For the streams whose observer reports it, in their order. Costs one seek per stream.
std::vector<AttachedFacts> find_attached(const Trace& trace);

// "Attached at (time). 0.1 s later the process held 41.2 GiB on its devices; 38.9 GiB of it is identified, ..."
std::string text_from_attached(const AttachedFacts& facts);
// "CUDA driver calls are recorded with CUPTI (...), since 1.4 s after attaching; earlier allocations are unknown."
// Empty: unknown.
std::string text_from_driver_calls(const AttachedFacts& facts);

// By the name of a counter: the driver's figure for what the process itself holds on a device.
bool is_held_by_process(std::string_view counter);

}  // namespace hbmscope
