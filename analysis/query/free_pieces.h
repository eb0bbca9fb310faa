// What is free in a heap, piece by piece: the lower bar of the fragmentation ruler. The share of the first piece is
// 1 - external fragmentation.
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

struct FreePieces {
  std::uint64_t count = 0, bytes = 0;
  std::vector<AddressRange> largest;  // The largest first, of equal ones the lower; at most so many as were wanted.
  PowerHistogram by_size;             // All of them.

  std::uint64_t largest_bytes() const { return largest.empty() ? 0 : largest.front().size(); }
  // Free, but not in the largest piece: free bytes x external fragmentation.
  std::uint64_t scattered_bytes() const { return bytes - largest_bytes(); }
};
// Nothing where the heap's regions are not told. Costs a walk over blocks and free pieces.
std::optional<FreePieces> find_free_pieces(const AddressSpace& space, std::size_t pieces_max);

// "12.4 GiB is free, in 1,203 pieces. The largest is 2.10 GiB; the request was 3.00 GiB."
std::string sentence_of(const FreePieces& free, std::optional<std::uint64_t> request_bytes);

// A request larger than any before it.
struct LargestRequest {
  std::uint64_t position = 0;  // After so many events it has happened.
  std::uint64_t bytes = 0;     // What was asked; where that is not told, what was taken.
  bool has_failed = false;     // Out of memory.
};

// An event that scattered what is free, or brought it together.
struct ScatterStep {
  std::uint64_t position = 0;                  // After so many events.
  std::optional<std::int64_t> since_start_ns;  // Absent where the source has no times.
  std::uint64_t free_before = 0, free_after = 0, scattered_before = 0, scattered_after = 0;  // Bytes.
  std::uint32_t stack = 0;  // That allocated the block which was taken or freed; 0: none, or it was no block.
  HeapChange::What what = HeapChange::What::other;

  std::uint64_t change() const {
    return scattered_after > scattered_before ? scattered_after - scattered_before : scattered_before - scattered_after;
  }
};

struct FreeHistory {
  std::vector<LargestRequest> requests;  // By position; bytes ascend too.
  std::vector<ScatterStep> steps;        // By how much they moved, the most first; none that moved nothing.

  // So far, failed ones too; nullptr where nothing was requested yet.
  const LargestRequest* largest_request_at(std::uint64_t position) const;
};
// Of one heap over the whole stream: one pass. Nothing where it was cancelled. Steps only where regions are told.
std::optional<FreeHistory> compute_free_history(const Stream& stream, std::uint32_t heap, std::size_t steps_max,
                                                PassControl* control = nullptr);

}  // namespace hbmscope
