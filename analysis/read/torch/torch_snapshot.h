// A PyTorch CUDA memory snapshot (torch.cuda.memory._dump_snapshot, _snapshot, memory_snapshot) as flat columns: what
// the allocator held when it was taken (segments and their blocks) and, if history was recorded, what it did before
// (one trace per device, oldest entry first). Sizes are bytes, addresses are 64-bit device addresses (Python may have
// written them as negative numbers), times are microseconds since 1970 on the host's clock.
//
//   segment  a range from the driver                            columns of TorchSegments
//   block    a part of a segment, in use or not                 columns of TorchBlocks; a segment has a range of rows
//   entry    one action of the allocator, with its stack        columns of TorchTrace, one trace per device
//   stack    the frames that led to it, interned                TorchStacks, a tree whose root is the outermost caller
//
// Missing values are `absent_bytes`, `absent_time`, StringId::empty or TorchStackId::none, never a guess.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/import_statistics.h"
#include "analysis/model/string_table.h"

namespace hbmscope {

enum class TorchFrameId : std::uint32_t {};
enum class TorchStackId : std::uint32_t { none = 0 };  // 0 is the stack without frames in every snapshot.

constexpr std::int64_t absent_bytes = -1;
constexpr std::int64_t absent_time = std::numeric_limits<std::int64_t>::min();

// For sizes that may be absent.
constexpr std::uint64_t bytes_or_0(std::int64_t bytes) {
  return bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes);
}

struct TorchFrame {
  StringId function = StringId::empty, file = StringId::empty;
  std::int32_t line = 0;  // 0: unknown, as in C++ frames.
};

// A stack is a node: its innermost frame, and the caller's stack. A caller's number is always smaller, so one ascending
// pass visits every caller before its callees. No stack has more than stack_frames_max frames.
struct TorchStacks {
  static constexpr std::uint32_t stack_frames_max = 4'096;  // Python stops at 1,000 calls.
  std::vector<TorchFrame> frames;                           // By TorchFrameId; no two are equal.
  std::vector<TorchStackId> caller;                         // By TorchStackId; 0 for 0.
  std::vector<TorchFrameId> innermost;                      // By TorchStackId; meaningless for 0.
};

enum class TorchSegmentType : std::uint8_t { unknown, small, large };
enum class TorchBlockState : std::uint8_t {
  unknown,
  active_allocated,
  active_pending_free,  // Freed by the program, but a stream may still use it; also written active_awaiting_free.
  inactive,
};
enum class TorchAction : std::uint8_t {
  unknown,  // See TorchTrace::other_actions.
  alloc,
  free,  // In the oldest schema, for both of the next two.
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  snapshot,
  oom,
};
std::string_view text_from_action(TorchAction action);  // As PyTorch writes it: "free_requested".

struct TorchSegments {
  std::vector<std::int32_t> device;
  std::vector<std::uint64_t> address;
  std::vector<std::int64_t> total_bytes;
  std::vector<std::int64_t> allocated_bytes, active_bytes, requested_bytes;  // From the file, or absent_bytes.
  std::vector<std::int64_t> stream;                                          // A handle, in two's complement.
  std::vector<TorchSegmentType> type;
  std::vector<std::uint64_t> pool_first, pool_second;  // segment_pool_id; (0, 0) is the main pool.
  std::vector<std::uint8_t> is_expandable;             // 1 or 0.
  std::vector<TorchStackId> stack;
  std::vector<std::uint32_t> block_begin{0};  // One more than segments: blocks of i are [block_begin[i], [i + 1]).
  std::size_t size() const { return device.size(); }
};

struct TorchBlocks {
  std::vector<std::uint64_t> address;  // From the file, else summed up from the segment's address.
  std::vector<std::int64_t> size_bytes;
  std::vector<std::int64_t> requested_bytes;  // The requested size, or absent_bytes.
  std::vector<TorchBlockState> state;
  std::vector<TorchStackId> stack;
  std::vector<StringId> user_metadata;
  std::size_t size() const { return address.size(); }
  bool is_active(std::size_t block) const {  // Not free yet.
    return state[block] == TorchBlockState::active_allocated || state[block] == TorchBlockState::active_pending_free;
  }
};

// Identifies a pool; (0, 0) is the main pool, others are private (torch.cuda.MemPool, graphs).
struct TorchPoolId {
  std::uint64_t first = 0, second = 0;
  bool is_reported = false;

  friend bool operator==(const TorchPoolId&, const TorchPoolId&) = default;
};

// A column that stores nothing while all its rows are equal; for fields that few programs use.
template <class Value>
class TorchColumn {
 public:
  void push_back(const Value& value) {
    if (values_.empty()) {
      if (rows_ == 0) usual_ = value;
      if (value == usual_) {
        ++rows_;
        return;
      }
      values_.assign(rows_, usual_);
    }
    values_.push_back(value);
    ++rows_;
  }
  const Value& operator[](std::size_t row) const { return values_.empty() ? usual_ : values_[row]; }
  std::size_t size() const { return rows_; }

 private:
  std::vector<Value> values_;  // Empty while all are usual_.
  Value usual_{};
  std::size_t rows_ = 0;
};

struct TorchTrace {
  struct OutOfMemory {
    std::uint32_t entry;
    std::int64_t device_free_bytes;  // Free on the device, or absent_bytes.
  };
  struct OtherAction {
    std::uint32_t entry;
    StringId action;  // From the file, if it has one.
  };
  std::int32_t device = 0;
  std::vector<TorchAction> action;
  std::vector<std::uint64_t> address;  // 0 for oom, which has no address.
  std::vector<std::int64_t> size_bytes;
  TorchColumn<std::int64_t> stream;
  std::vector<std::int64_t> time_us;  // Or absent_time.
  std::vector<TorchStackId> stack;
  TorchColumn<StringId> user_metadata, compile_context;
  TorchColumn<TorchPoolId> pool;           // pool_id; written since March 2026 (pytorch/pytorch pull request 177717).
  std::vector<OutOfMemory> out_of_memory;  // For each entry oom, in order.
  std::vector<OtherAction> other_actions;  // For each entry unknown, in order.
  std::size_t size() const { return action.size(); }
};

// A part of a history that was joined from several snapshots (join_pieces.h): the entries of one device up to a gap,
// and the rows of `segments` that the device had then.
struct TorchRun {
  TorchTrace trace;
  std::uint32_t segment_begin = 0, segment_end = 0;
};

// A range or mark recorded by the program, such as the profiler's "Optimizer.step#AdamW.step".
struct TorchAnnotation {
  StringId stage = StringId::empty;  // "START" or "END".
  StringId name = StringId::empty;
  std::int32_t device = 0;
  std::int64_t time_us = absent_time;
};

// Nested keys are joined with a dot: "roundup_power2_divisions.256". Values as Python prints them.
struct TorchSetting {
  StringId key = StringId::empty, value = StringId::empty;
};

struct TorchSnapshot {
  // Every size is below this limit (256 TiB, more than any device has), so sums of fewer than 32,768 sizes can't
  // overflow.
  static constexpr std::int64_t size_bytes_max = std::int64_t{1} << 48;

  std::string file;
  std::uint64_t file_bytes = 0, pickle_bytes = 0;  // pickle_bytes: after gzip, zip or base64.
  int pickle_protocol = 0;                         // 0: it was JSON.
  bool has_traces = false;                         // False: only segments, as from torch.cuda.memory_snapshot().

  StringTable strings;
  TorchStacks stacks;
  TorchSegments segments;
  TorchBlocks blocks;
  std::vector<TorchTrace> traces;      // By device, as in the file; includes empty traces.
  std::vector<TorchRun> earlier_runs;  // Oldest first. After each, entries are missing; the device goes on in another.
  std::vector<TorchAnnotation> annotations;
  std::vector<TorchSetting> settings;
  ImportStatistics import;

  std::string_view text(StringId id) const { return strings.text(id); }
  // The rows of `segments` before this one are the tables at the end; the others are those of earlier runs.
  std::uint32_t segments_at_end() const {
    return earlier_runs.empty() ? static_cast<std::uint32_t>(segments.size()) : earlier_runs.front().segment_begin;
  }
  // Innermost frame first, as in PyTorch.
  std::vector<TorchFrame> stack_frames(TorchStackId stack) const;
};

}  // namespace hbmscope
