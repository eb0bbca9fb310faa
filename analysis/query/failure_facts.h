// Why a request failed, as far as it can be derived exactly: what was asked, what was free and in how many pieces,
// since when no piece was large enough, and which blocks stand in the cheapest place for it. What would need to be
// known and is not told is absent, and said.
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
  unknown,    // What was free is not told, or not known any more: events of the heap were lost before.
  too_big,    // More than all that was free in the pool, and all that the driver had left where that is told; or all
              // of the limit and more, as it is printed.
  scattered,  // Enough was free in the pool, in pieces that are each too small.
  split,      // Enough only together: some free in the pool, some left at the driver, neither large enough.
  limit,      // The driver had more than that left: a limit of the process, or of the allocator, forbade it.
  had_room,   // A free piece was large enough, and the allocator did not use it.
};
std::string_view text_from_verdict(FailureVerdict verdict);  // "too_big"

// The addresses of one region where the fewest bytes in use stand between free pieces that together hold the request.
struct CheapestPlace {
  AddressRange range;
  std::uint64_t in_use_bytes = 0;
  std::vector<LiveBlock> blocks;  // In the order of addresses. Empty where nothing stands in the way.
};
// Nothing where no region is that large, or regions are not told. `bytes` > 0.
std::optional<CheapestPlace> find_cheapest_place(const StreamState& state, std::uint32_t heap, std::uint64_t bytes);

// The last position before `before` at which a free block of the heap was that large; `bytes` > 0.
std::optional<std::uint64_t> find_last_fit(const Stream& stream, std::uint32_t heap, std::uint64_t bytes,
                                           std::uint64_t before);

struct FailureFacts {
  std::uint32_t heap = 0;
  std::string heap_name;
  std::uint64_t event = 0;  // The failure's; the heap is as it was just before it.
  std::optional<std::int64_t> since_start_ns;
  std::uint64_t asked_bytes = 0;
  bool is_inexact = false;  // Events of the heap were lost before: what was free is only what the others make of it.
  std::uint64_t needed_bytes = 0;  // Rounded as the allocator would have, where its rule is known; else what was asked.
  std::optional<std::uint64_t> free_bytes, free_pieces, largest_free_bytes;
  std::optional<std::uint64_t> driver_bytes;  // What the driver had left, where that is told.
  std::optional<std::uint64_t> limit_bytes;   // The most that there may be, where that is told.
  FailureVerdict verdict = FailureVerdict::unknown;
  std::optional<std::uint64_t> last_fit;  // So many events had happened then.
  std::optional<std::int64_t> last_fit_since_start_ns;
  std::optional<CheapestPlace> place;  // Where the verdict is scattered, split or too_big.
  std::uint32_t stack = 0;             // That asked.
};
// Of the out-of-memory that is failures()[index] of the stream. Costs a walk over the heap and over the timeline.
FailureFacts compute_failure_facts(const Stream& stream, std::size_t index);

// "3.00 GiB was asked for and 12.4 GiB is free, but in 1,203 pieces: fragmented. The largest is 2.10 GiB ..."
std::string sentence_of(const FailureFacts& facts);
// What the source does not tell and the verdict would need; empty where there is nothing.
std::string unknowns_of(const FailureFacts& facts);

}  // namespace hbmscope
