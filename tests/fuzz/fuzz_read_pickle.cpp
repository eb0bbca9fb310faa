// Any bytes for the reader of PyTorch snapshots. Whatever it accepts is walked to its end: every range of rows, every
// stack and every text must exist, and sizes must be as the header guarantees. The result must equal that of a reader
// that has the whole pickle in memory first.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "analysis/read/torch/read_torch.h"
#include "analysis/read/torch/snapshot_builder.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;

bool is_size(std::int64_t bytes, bool may_be_absent) {
  return (bytes >= 0 && bytes < TorchSnapshot::size_bytes_max) || (may_be_absent && bytes == absent_bytes);
}

class Walk {
 public:
  explicit Walk(const TorchSnapshot& snapshot) : s_(snapshot) {}

  void all() {
    stacks();
    segments();
    blocks();
    for (const TorchTrace& trace : s_.traces) entries(trace);
    for (const TorchAnnotation& row : s_.annotations) text(row.stage), text(row.name);
    for (const TorchSetting& row : s_.settings) text(row.key), text(row.value);
    for (const ImportStatistic& row : s_.import.rows())
      require(row.severity == Severity::info || !row.remedy.empty(), "a statistic without a remedy");
  }

 private:
  void text(StringId id) { require(row(id) < s_.strings.size() && s_.text(id).size() < (1U << 26), "a text"); }
  void stack(TorchStackId id) { require(row(id) < s_.stacks.caller.size(), "a stack that is not there"); }

  void stacks() {
    const TorchStacks& stacks = s_.stacks;
    require(stacks.caller.size() == stacks.innermost.size() && !stacks.caller.empty(), "stacks");
    for (std::size_t i = 1; i < stacks.caller.size(); ++i) {
      require(row(stacks.caller[i]) < i, "a caller behind its callee");
      require(row(stacks.innermost[i]) < stacks.frames.size(), "a frame that is not there");
    }
    for (const TorchFrame& frame : stacks.frames) {
      text(frame.function);
      text(frame.file);
      require(frame.line >= 0, "a negative line");
    }
    const auto last = static_cast<TorchStackId>(stacks.caller.size() - 1);
    require(s_.stack_frames(last).size() <= TorchStacks::stack_frames_max, "an endless stack");
  }

  void segments() {
    const TorchSegments& g = s_.segments;
    const std::size_t n = g.size();
    require(g.block_begin.size() == n + 1 && g.block_begin[0] == 0 && g.block_begin[n] == s_.blocks.size(), "ranges");
    for (std::size_t i = 0; i < n; ++i) {
      require(g.block_begin[i] <= g.block_begin[i + 1], "a range that ends before it begins");
      require(is_size(g.total_bytes.at(i), false) && is_size(g.allocated_bytes.at(i), true), "a size");
      require(is_size(g.active_bytes.at(i), true) && is_size(g.requested_bytes.at(i), true), "a size");
      require(g.is_expandable.at(i) <= 1 && g.device.at(i) >= -1, "a device");
      static_cast<void>(g.address.at(i) + g.pool_first.at(i) + g.pool_second.at(i));
      static_cast<void>(g.stream.at(i));
      static_cast<void>(g.type.at(i));
      stack(g.stack.at(i));
    }
  }

  void blocks() {
    const TorchBlocks& b = s_.blocks;
    for (std::size_t i = 0; i < b.size(); ++i) {
      require(is_size(b.size_bytes.at(i), false) && is_size(b.requested_bytes.at(i), true), "a size");
      static_cast<void>(b.state.at(i));
      stack(b.stack.at(i));
      text(b.user_metadata.at(i));
    }
  }

  void entries(const TorchTrace& t) {
    std::size_t out_of_memory = 0, other = 0;
    require(t.stream.size() == t.size() && t.user_metadata.size() == t.size() && t.compile_context.size() == t.size(),
            "columns of different lengths");
    for (std::size_t i = 0; i < t.size(); ++i) {
      require(is_size(t.size_bytes.at(i), false), "a size");
      if (t.action[i] == TorchAction::oom) {
        require(t.out_of_memory.at(out_of_memory).entry == i, "oom out of order");
        require(is_size(t.out_of_memory[out_of_memory++].device_free_bytes, true), "a size");
      }
      if (t.action[i] == TorchAction::unknown) {
        require(t.other_actions.at(other).entry == i, "actions out of order");
        text(t.other_actions[other++].action);
      }
      static_cast<void>(static_cast<std::uint64_t>(t.time_us.at(i)) + t.address.at(i));
      static_cast<void>(t.stream[i]);
      stack(t.stack.at(i));
      text(t.user_metadata[i]);
      text(t.compile_context[i]);
    }
    require(out_of_memory == t.out_of_memory.size() && other == t.other_actions.size(), "rows of no entry");
  }

  const TorchSnapshot& s_;
};

Result<TorchSnapshot> read_at_leisure(std::span<const std::uint8_t> bytes) {
  TorchSnapshot snapshot;
  snapshot.file = "fuzz";
  snapshot.file_bytes = snapshot.pickle_bytes = bytes.size();
  pickle::Document document;
  if (auto error = pickle::read_pickle(document, bytes, "fuzz", {}, nullptr, nullptr))
    return Failure(std::move(*error));
  if (auto error = torch::SnapshotBuilder(document, snapshot, nullptr).build()) return Failure(std::move(*error));
  return snapshot;
}

// The numbers of stacks and texts depend on the order in which they are met; their contents do not.
void require_equal(const TorchSnapshot& a, const TorchSnapshot& b) {
  const auto same_frames = [&](TorchStackId of_a, TorchStackId of_b) {
    const auto one = a.stack_frames(of_a), other = b.stack_frames(of_b);
    return std::equal(
        one.begin(), one.end(), other.begin(), other.end(), [&](const TorchFrame& x, const TorchFrame& y) {
          return a.text(x.function) == b.text(y.function) && a.text(x.file) == b.text(y.file) && x.line == y.line;
        });
  };
  require(a.segments.address == b.segments.address && a.blocks.address == b.blocks.address, "other segments");
  require(a.traces.size() == b.traces.size() && a.has_traces == b.has_traces, "other traces");
  for (std::size_t i = 0; i < a.traces.size(); ++i) {
    const TorchTrace &x = a.traces[i], &y = b.traces[i];
    require(x.device == y.device && x.action == y.action && x.address == y.address && x.size_bytes == y.size_bytes &&
                x.time_us == y.time_us && x.out_of_memory.size() == y.out_of_memory.size() &&
                x.other_actions.size() == y.other_actions.size(),
            "other entries");
    for (std::size_t row = 0; row < x.size(); ++row)
      require(x.stream[row] == y.stream[row] && x.pool[row] == y.pool[row] &&
                  a.text(x.user_metadata[row]) == b.text(y.user_metadata[row]) &&
                  a.text(x.compile_context[row]) == b.text(y.compile_context[row]) &&
                  same_frames(x.stack[row], y.stack[row]),
              "another entry");
  }
}

}  // namespace

FUZZ_TARGET(fuzz_read_pickle, data, size) {
  TorchReadOptions options;
  options.max_inflated_bytes = std::uint64_t{1} << 20;
  const auto snapshot = read_torch({data, size}, "fuzz", options);
  if (!snapshot) {
    const Error& error = snapshot.error();
    require(!error.what.empty() && !error.remedy.empty() && error.file == "fuzz", "an error without words or file");
    require(error.inflated || error.offset.value_or(0) <= size, "an offset behind the end");
    if (pickle::looks_like_pickle({data, size})) {
      const auto other = read_at_leisure({data, size});
      require(!other && other.error().what == error.what && other.error().offset == error.offset, "another error");
    }
    return 0;
  }
  Walk(*snapshot).all();
  if (!pickle::looks_like_pickle({data, size})) return 0;  // In gzip or a zip archive.
  const auto other = read_at_leisure({data, size});
  require(other.has_value(), "refused by the other reader");
  require_equal(*snapshot, *other);
  return 0;
}
