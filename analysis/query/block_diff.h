// Which blocks are new, gone, grown or moved between two times. Within one trace, blocks are matched by allocation id,
// which is exact. Between two traces they are matched by stack and size, because the blocks of two jobs share no ids.
//
// A handle of physical memory (physical_state.h) is a block without an address here; it never matches a block that has
// one.
//
// Between two traces, stacks are equal if function and file tail are, as in diff.h. Within a stack, blocks of equal
// size match. The remaining ones are paired by rank of size, the largest with the largest, and count as grown or
// shrunk. Whatever is left over is new or gone. Addresses of two jobs are not compared, so nothing is moved.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/clamped.h"
#include "analysis/query/own_frame.h"
#include "analysis/trace/moment.h"

namespace hbmscope {

struct BlockChange {  // Counts blocks and handles.
  std::uint64_t count = 0;
  std::int64_t baseline_bytes = 0, now_bytes = 0;  // Including rounding; 0 on the side without the blocks.

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
  BlockChange added, gone, grown, shrunk, moved, unchanged;  // Each block is in one of them; moved: at the same size.

  BlockChanges& operator+=(const BlockChanges& more);
  BlockChange total() const;
  std::int64_t delta_bytes() const { return total().delta_bytes(); }
};

struct BlockDiffRow {
  std::string function, file;  // The innermost frame in your code; both empty: none (no_line_text says which).
  std::uint32_t line = 0;      // Two traces are compared without lines; then it is the line that changed the most. 0 if unknown.
  BlockChanges changes;
  bool is_autograd_thread = false;

  std::string_view no_line_text() const { return text_without_line(is_autograd_thread); }
};

struct BlockDiff {
  bool is_by_id = false;  // Two times of one trace.
  BlockChanges changes;
  std::vector<BlockDiffRow> user_code;  // Largest absolute byte change first; then by what was added and gone.
};

struct BlocksAt {
  const Trace& trace;
  const std::vector<StreamState>& states;
};

// The same trace if both refer to the same object. Returns nothing if `cancelled` became true.
std::optional<BlockDiff> compute_block_diff(const BlocksAt& baseline, const BlocksAt& now,
                                            const std::atomic<bool>* cancelled = nullptr);

}  // namespace hbmscope
