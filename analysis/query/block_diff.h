// Which blocks came, went, grew or moved between two moments: of one trace by their allocation id, which is exact; of
// two traces by stack and size, which is the best that can be said, because the blocks of two jobs have no common
// numbers alike.
//
// A handle of physical memory (physical_state.h) is a block here, without an address and never the same as one that has
// an address.
//
// Between two traces stacks are equal by function and file tail, as in diff.h. Of one stack, blocks of equal size are
// the same; what is left over on both sides is paired by rank of size, the largest with the largest, as grown or
// shrunk; what is still left is new or gone. Addresses of two jobs are not compared: nothing is moved.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/clamped.h"
#include "analysis/trace/moment.h"

namespace hbmscope {

struct BlockChange {  // Of blocks and handles.
  std::uint64_t count = 0;
  std::int64_t baseline_bytes = 0, now_bytes = 0;  // What blocks take, rounding included; 0 where they are not.

  BlockChange& operator+=(const BlockChange& more) {
    count += more.count;
    baseline_bytes = clamped_sum(baseline_bytes, more.baseline_bytes);
    now_bytes = clamped_sum(now_bytes, more.now_bytes);
    return *this;
  }
  std::int64_t delta_bytes() const { return clamped_difference(now_bytes, baseline_bytes); }
  friend bool operator==(const BlockChange&, const BlockChange&) = default;
};

struct BlockChanges {
  BlockChange added, gone, grown, shrunk, moved, unchanged;  // One block is in one of them; moved: of the same size.

  BlockChange total() const;
  std::int64_t delta_bytes() const { return total().delta_bytes(); }
};

struct BlockDiffRow {
  std::string function, file;  // Of the innermost own frame; both empty: library code only, or no stack.
  std::uint32_t line = 0;      // Between two traces, which are compared without lines, one of now's. 0: unknown.
  BlockChanges changes;
};

struct BlockDiff {
  bool is_by_id = false;  // Two moments of one trace.
  BlockChanges changes;
  std::vector<BlockDiffRow> own_code;  // By absolute change of bytes, the largest first; then by what came and went.
};

struct BlocksAt {
  const Trace& trace;
  const std::vector<StreamState>& states;
};

// One trace where both are of the same object. Nothing where `cancelled` became true meanwhile.
std::optional<BlockDiff> compute_block_diff(const BlocksAt& baseline, const BlocksAt& now,
                                            const std::atomic<bool>* cancelled = nullptr);

}  // namespace hbmscope
