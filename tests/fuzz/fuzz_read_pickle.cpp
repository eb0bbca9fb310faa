// Any bytes at all into the reader of PyTorch snapshots. Whatever it accepts is walked to its end: every range of rows,
// every stack, every text must be there, and sizes must be as the header promises.
#include <cstdio>
#include <string>

#include "analysis/read/torch/read_torch.h"
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
      static_cast<void>(text_from_segment_type(g.type.at(i)));
      stack(g.stack.at(i));
    }
  }

  void blocks() {
    const TorchBlocks& b = s_.blocks;
    for (std::size_t i = 0; i < b.size(); ++i) {
      require(is_size(b.size_bytes.at(i), false) && is_size(b.requested_bytes.at(i), true), "a size");
      static_cast<void>(text_from_block_state(b.state.at(i)));
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

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  TorchReadOptions options;
  options.max_inflated_bytes = std::uint64_t{1} << 20;
  const auto snapshot = read_torch({data, size}, "fuzz", options);
  if (!snapshot) {
    const Error& error = snapshot.error();
    require(!error.what.empty() && !error.remedy.empty() && error.file == "fuzz", "an error without words or file");
    require(error.inflated || error.offset.value_or(0) <= size, "an offset behind the end");
    return 0;
  }
  Walk(*snapshot).all();
  return 0;
}
