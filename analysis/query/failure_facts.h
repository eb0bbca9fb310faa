// The figures of a failed request, as far as they can be derived exactly: how much was requested, how much was free in
// how many blocks, since when no free block was large enough, and the blocking allocations. Figures that would depend
// on unknown ones are absent. What they mean is decided in analysis/diagnose (cause.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/address_range.h"
#include "analysis/query/heap_rows.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// The range of adjacent chunks in one region that is large enough for the request and has the fewest bytes in use, or
// the fewest blocks, and of these the fewest bytes.
enum class Fewest : std::uint8_t { bytes, blocks };
struct CheapestPlace {
  AddressRange range;
  std::uint64_t in_use_bytes = 0;
  std::vector<LiveBlock> blocks;  // In address order. Empty if there are none.
};
// Nothing if no region is that large, or regions are unknown. `bytes` must be above 0. Only of chunks within `within`.
inline constexpr AddressRange all_addresses = {0, ~std::uint64_t{0}};
std::optional<CheapestPlace> find_cheapest_place(const StreamState& state, std::uint32_t heap, std::uint64_t bytes,
                                                 Fewest fewest = Fewest::bytes, AddressRange within = all_addresses);

// The last position before `before` at which the heap had a free block of that size; `bytes` must be above 0.
std::optional<std::uint64_t> find_last_fit(const Stream& stream, std::uint32_t heap, std::uint64_t bytes,
                                           std::uint64_t before);

struct FailureFacts {
  std::uint32_t heap = 0;
  std::string heap_name;
  std::uint64_t event = 0;  // The failure's; the heap is described as just before it.
  std::optional<std::int64_t> since_start_ns;
  std::uint64_t requested_bytes = 0;  // 0: unknown.
  bool is_inexact = false;  // Events of the heap were lost before, so free memory is computed from the others only.
  std::uint64_t needed_bytes = 0;  // Rounded as the allocator does, if its rule is known; else the requested size.
  std::optional<std::uint64_t> free_bytes, free_blocks, largest_free_bytes;
  std::optional<std::uint64_t> driver_bytes;  // Free on the device, outside the pool. Absent if unknown.
  bool is_of_driver = false;                  // The request went to the driver, so there is no pool.
  std::optional<std::uint64_t> limit_bytes;   // The limit of the pool. Absent if unknown.
  std::optional<std::uint64_t> pool_bytes;    // What the pool has taken from the device. Absent if unknown.
  std::optional<std::uint64_t> last_fit;      // The number of events at that time.
  std::optional<std::int64_t> last_fit_since_start_ns;
  // Only if is_free_known() and a region is that large. If a block had room, only in a pool with two ends, where that
  // block belongs to the other end: a place for the end that has none.
  std::optional<CheapestPlace> place;
  std::optional<CheapestPlace> place_of_fewest_blocks;  // The same; absent if it is no other place.
  // What was free in the pool is known exactly enough to conclude from it.
  bool is_free_known() const;
  // A free block was large enough, and the allocator did not use it.
  bool has_room() const;
  // The limit leaves no room for a region of the needed size, however much is free on the device.
  bool is_pool_at_limit() const;
  std::uint32_t stack = 0;                // The stack of the request.
  std::string reason;                     // In the words of its source; may be empty.
  std::optional<std::uint64_t> log_line;  // The line of the log that reports it, from 1; such a heap has no past.
};
// For the out-of-memory failures()[index] of the stream. Walks the heap and the timeline. `state` is the stream's just
// before it, state_at(failures()[index].event), for callers that have it.
FailureFacts compute_failure_facts(const Stream& stream, std::size_t index);
FailureFacts compute_failure_facts(const Stream& stream, std::size_t index, const StreamState& state);

// Of a trace without a failure: why it may have had one nevertheless, as a sentence; empty if there is no reason.
std::string_view why_no_failure_is_seen(const Trace& trace);

}  // namespace hbmscope
