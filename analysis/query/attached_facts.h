// A process that was attached to in the middle of its life: how much device memory it held just after, as the driver
// told, and how much of that the recording knows block by block. The rest was taken before anybody looked. Or one of
// which only what the driver tells was watched.
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
  std::optional<std::uint64_t> held_bytes;  // On all devices, the driver's own for the process too; absent: unknown.
  std::int64_t reported_after_ns = 0;           // The driver was read so long after attaching.
  std::uint64_t identified_bytes = 0;       // In use in heaps of devices at that moment.
  // How its CUDA driver calls are recorded, in the end: "CUDA driver calls are recorded with CUPTI (...)", "... not
  // recorded: CUPTI is in use". Empty: the recording does not say.
  std::string driver_calls;
  bool are_calls_reported = false, may_be_reported_later = false;  // Later: it has no driver loaded yet.
  std::optional<std::int64_t> calls_since_ns;  // So long after attaching that has been so; absent: at once.
};

// Of streams whose observer says so; in their order. Costs a seek each.
std::vector<AttachedFacts> find_attached(const Trace& trace);

// "Attached at 14:03:22. 0.1 s later the process held 41.2 GiB; 38.9 GiB of it is identified, 2.30 GiB is not."
std::string text_from_attached(const AttachedFacts& facts);
// "CUDA driver calls are recorded with CUPTI (...), since 1.4 s after that; earlier allocations are unknown." Empty: not
// said.
std::string text_from_driver_calls(const AttachedFacts& facts);

// By the name of a counter: what the driver says that the process itself holds of a device.
bool is_held_by_process(std::string_view counter);

}  // namespace hbmscope
