// The free blocks of a heap: the lower bar of the fragmentation ruler. The share of the largest one is 1 - external
// fragmentation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/address_range.h"
#include "analysis/query/power_histogram.h"
#include "analysis/trace/heap_change.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

struct FreeBlocks {
  std::uint64_t count = 0, bytes = 0;
  std::vector<AddressRange> largest;  // Largest first, equal ones by address; at most pieces_max of them.
  PowerHistogram by_size;             // All free blocks by size.

  std::uint64_t largest_bytes() const { return largest.empty() ? 0 : largest.front().size(); }
  // Free, but not in the largest free block: free bytes x external fragmentation.
  std::uint64_t fragmented_bytes() const { return bytes - largest_bytes(); }
};
// Nothing if the heap's regions are unknown. Walks over all blocks and free blocks.
std::optional<FreeBlocks> find_free_blocks(const AddressSpace& space, std::size_t pieces_max);

// "12.4 GiB is free, in 1,203 blocks. The largest is 2.10 GiB; the request was 3.00 GiB."
std::string sentence_of(const FreeBlocks& free, std::optional<std::uint64_t> request_bytes);

// A request larger than all earlier ones.
struct LargestRequest {
  std::uint64_t position = 0;  // After the event.
  std::uint64_t bytes = 0;     // The requested size, or the block size if that is unknown.
  bool has_failed = false;     // Out of memory.
};

// The event that increased or decreased the scattered bytes most, of all that are alike.
struct ScatterStep {
  std::uint64_t position = 0;                  // After the event.
  std::optional<std::int64_t> since_start_ns;  // Absent if the source has no times.
  std::uint64_t free_before = 0, free_after = 0, fragmented_before = 0, fragmented_after = 0;  // Bytes.
  std::uint32_t stack = 0;  // The stack that allocated the affected block. 0 if unknown, or not a block.
  HeapChange::What what = HeapChange::What::other;
  std::uint64_t times = 0;  // How many events did the same, in the same direction, to blocks of the same stack.

  std::uint64_t change() const {
    return fragmented_after > fragmented_before ? fragmented_after - fragmented_before
                                                : fragmented_before - fragmented_after;
  }
};

struct FreeHistory {
  std::vector<LargestRequest> requests;  // By position; bytes ascend too.
  std::vector<ScatterStep> steps;        // Largest change first; without changes of 0.

  // Up to the position, including failed ones; nullptr if there was no request yet.
  const LargestRequest* largest_request_at(std::uint64_t position) const;
};
// For one heap over the whole stream, in one pass. Returns nothing if cancelled. Has steps only if the regions are
// known.
std::optional<FreeHistory> compute_free_history(const Stream& stream, std::uint32_t heap, std::size_t steps_max,
                                                PassControl* control = nullptr);

}  // namespace hbmscope
