// Why a request failed, as far as it can be derived exactly: how much was requested, how much was free in how many
// blocks, since when no free block was large enough, and the blocking allocations. Figures that would depend on
// unknown ones are absent, and the text says so.
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

namespace hbmscope {

enum class FailureVerdict : std::uint8_t {
  unknown,     // The free memory is unknown, for example because earlier events of the heap were lost.
  too_big,     // More than all free memory of the pool and, if known, of the device; or at least the whole limit, as
               // printed.
  fragmented,  // Enough was free in the pool, but each free block is too small, or none was used.
  split,       // Enough in total only: some free in the pool, some on the device, neither large enough.
  limit,       // More than that was free on the device: a limit of the process or of the allocator prevented it.
  had_room,    // A free block was large enough, and the allocator did not use it.
};

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
  std::optional<std::uint64_t> driver_bytes;  // Free on the device, outside the pool; absent: unknown.
  bool is_of_driver = false;                  // The request went to the driver, so there is no pool.
  std::optional<std::uint64_t> limit_bytes;   // The limit of the pool; absent: unknown.
  std::optional<std::uint64_t> pool_bytes;    // What the pool has taken from the device; absent: unknown.
  FailureVerdict verdict = FailureVerdict::unknown;
  std::optional<std::uint64_t> last_fit;  // The number of events at that time.
  std::optional<std::int64_t> last_fit_since_start_ns;
  // Unless the verdict is unknown, or no region is that large. If a block had room, only of a pool with two ends, where
  // it is that of the other end: a place for the end that has none.
  std::optional<CheapestPlace> place;
  std::optional<CheapestPlace> place_of_fewest_blocks;  // The same; absent if it is no other place.
  // The limit leaves no room for a region of the needed size, however much is free on the device.
  bool is_pool_at_limit() const;
  std::uint32_t stack = 0;                // The stack of the request.
  std::string reason;                     // In the words of its source; may be empty.
  std::optional<std::uint64_t> log_line;  // Of the log that tells of it, from 1; such a heap has no past.
};
// For the out-of-memory failures()[index] of the stream. Walks the heap and the timeline. `state` is the stream's just
// before it, state_at(failures()[index].event), for callers that have it.
FailureFacts compute_failure_facts(const Stream& stream, std::size_t index);
FailureFacts compute_failure_facts(const Stream& stream, std::size_t index, const StreamState& state);

// "Fragmented: requested 3.00 GiB; 12.4 GiB is free in total, but the largest free block is 2.10 GiB. ..."
std::string sentence_of(const FailureFacts& facts);
// The unknown figures that the verdict would need; empty if there are none.
std::string unknowns_of(const FailureFacts& facts);

}  // namespace hbmscope
