// Any bytes as the tables and the history of a PyTorch snapshot: whatever the entries contain, the trace ends with the
// blocks in the tables, or reports that it is inexact if they are inconsistent; every query has an answer.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "analysis/read/torch/trace_from_torch.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/trace_questions.h"

namespace {

using namespace hbmscope;

constexpr std::uint64_t granule = 512, mib = std::uint64_t{1} << 20;

class SnapshotFromBytes {
 public:
  SnapshotFromBytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  TorchSnapshot make() {
    snapshot_.file = "fuzz";
    make_stacks();
    is_dirty_ = draw(4) == 3;
    // The unit of small requests, whose remainder is always split off, or of large ones.
    unit_ = draw(2) == 0 ? granule : mib / 2;
    for (std::uint64_t left = draw(6); left > 0; --left) add_segment();
    snapshot_.traces.resize(1 + draw(2));
    for (std::size_t i = 0; i < snapshot_.traces.size(); ++i) snapshot_.traces[i].device = static_cast<std::int32_t>(i);
    while (at_ != end_) add_entry(snapshot_.traces[draw(snapshot_.traces.size())]);
    return std::move(snapshot_);
  }
  bool is_dirty() const { return is_dirty_; }

 private:
  std::uint64_t draw(std::uint64_t n) { return at_ == end_ ? 0 : *at_++ % n; }

  void make_stacks() {
    TorchStacks& stacks = snapshot_.stacks;
    stacks.frames.push_back({snapshot_.strings.intern("step"), snapshot_.strings.intern("train.py"), 7});
    stacks.caller = {TorchStackId::none, TorchStackId::none, static_cast<TorchStackId>(1)};
    stacks.innermost.assign(3, static_cast<TorchFrameId>(0));
  }

  std::uint64_t draw_address() { return base_ + draw(places) * unit_; }

  // Each segment has its own addresses, and its blocks fill it, as in the allocator's tables; not in a damaged file.
  void add_segment() {
    TorchSegments& segments = snapshot_.segments;
    std::uint64_t address = base_ + next_place_ * unit_;
    segments.device.push_back(static_cast<std::int32_t>(draw(2)));
    segments.address.push_back(address);
    for (auto* column : {&segments.allocated_bytes, &segments.active_bytes, &segments.requested_bytes})
      column->push_back(absent_bytes);
    segments.stream.push_back(static_cast<std::int64_t>(draw(2)));
    segments.type.push_back(TorchSegmentType::large);
    segments.pool_first.push_back(0);
    segments.pool_second.push_back(draw(3));
    segments.is_expandable.push_back(static_cast<std::uint8_t>(draw(2)));
    segments.stack.push_back(TorchStackId::none);
    std::uint64_t places_taken = 0;
    for (std::uint64_t left = 1 + draw(5); left > 0; --left) {
      const std::uint64_t length = 1 + draw(6);
      TorchBlocks& blocks = snapshot_.blocks;
      blocks.address.push_back(address);
      blocks.size_bytes.push_back(static_cast<std::int64_t>(length * unit_));
      blocks.requested_bytes.push_back(draw(3) == 0 ? absent_bytes : blocks.size_bytes.back() - 1);
      blocks.state.push_back(static_cast<TorchBlockState>(draw(4)));
      blocks.stack.push_back(static_cast<TorchStackId>(draw(3)));
      blocks.user_metadata.push_back(draw(4) == 0 ? snapshot_.strings.intern("kv cache") : StringId::empty);
      if (is_dirty_ && draw(8) == 0) blocks.size_bytes.back() = TorchSnapshot::size_bytes_max - 1;
      if (is_dirty_ && draw(8) == 0) blocks.address.back() = draw_address();
      address += length * unit_;
      places_taken += length;
    }
    segments.total_bytes.push_back(static_cast<std::int64_t>(places_taken * unit_));
    segments.block_begin.push_back(static_cast<std::uint32_t>(snapshot_.blocks.size()));
    next_place_ += places_taken + draw(2);  // Neighbours touch or do not.
    if (is_dirty_) next_place_ -= std::min(next_place_, draw(4));
  }

  void add_entry(TorchTrace& trace) {
    const auto row = static_cast<std::uint32_t>(trace.size());
    trace.action.push_back(static_cast<TorchAction>(draw(11)));
    trace.address.push_back(draw_address());
    const std::uint64_t size = draw(32);
    trace.size_bytes.push_back(size == 31   ? TorchSnapshot::size_bytes_max - 1
                               : size == 30 ? 0
                                            : static_cast<std::int64_t>((1 + size % 8) * unit_ - size / 8));
    const std::uint64_t how = draw(256);
    trace.stream.push_back(static_cast<std::int64_t>(how % 3));
    time_us_ += 1;
    trace.time_us.push_back(how >= 250   ? absent_time
                            : how >= 245 ? static_cast<std::int64_t>(how) * -1
                            : how >= 240 ? time_us_ - 20
                                         : time_us_);
    trace.stack.push_back(static_cast<TorchStackId>(how / 4 % 3));
    trace.user_metadata.push_back(StringId::empty);
    trace.compile_context.push_back(StringId::empty);
    trace.pool.push_back(how % 32 < 4 ? TorchPoolId{0, how / 32, true} : TorchPoolId());
    if (trace.action.back() == TorchAction::oom)
      trace.out_of_memory.push_back({row, how < 128 ? absent_bytes : static_cast<std::int64_t>(how)});
    if (trace.action.back() == TorchAction::unknown) trace.other_actions.push_back({row, StringId::empty});
  }

  static constexpr std::uint64_t places = 160;  // Segments take most of them.

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  TorchSnapshot snapshot_;
  bool is_dirty_ = false;
  std::uint64_t base_ = 0x7f0000000000, unit_ = granule, next_place_ = 0;
  std::int64_t time_us_ = 1'700'000'000'000'000;
};

struct Sum {
  std::uint64_t blocks = 0, block_bytes = 0, region_bytes = 0;
  friend bool operator==(const Sum&, const Sum&) = default;
};

// By the heap's name.
std::map<std::string, Sum> sum_up_tables_of(const TorchSnapshot& snapshot) {
  std::map<std::string, Sum> sums;
  const TorchSegments& segments = snapshot.segments;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    std::string name = "GPU " + std::to_string(segments.device[i]);
    if (segments.pool_second[i] != 0) name += " (0, " + std::to_string(segments.pool_second[i]) + ")";
    Sum& sum = sums[name];
    sum.region_bytes += static_cast<std::uint64_t>(segments.total_bytes[i]);
    for (std::uint32_t block = segments.block_begin[i]; block < segments.block_begin[i + 1]; ++block) {
      if (!snapshot.blocks.is_active(block)) continue;
      ++sum.blocks;
      sum.block_bytes += static_cast<std::uint64_t>(snapshot.blocks.size_bytes[block]);
    }
  }
  return sums;
}

void require_the_end(const TorchSnapshot& snapshot, const Trace& trace, bool is_dirty) {
  std::map<std::string, Sum> listed = sum_up_tables_of(snapshot);
  const Stream& stream = trace.streams.front();
  const StreamState &last = stream.last_state(), sought = stream.state_at(stream.end_position());
  const Stream version = stream.version();
  for (const HeapInfo& info : stream.definitions().heaps()) {
    if (info.id == 0) continue;
    // "GPU 0 private pool (0, 1)" is device 0's.
    std::string name = info.name.substr(0, 5);
    if (const std::size_t pool = info.name.find('('); pool != std::string::npos) name += " " + info.name.substr(pool);
    for (const StreamState* state : {&last, &sought}) {
      const HeapState& heap = state->heap(info.id);
      const Sum sum{heap.live_blocks, heap.in_use_bytes, heap.space.region_bytes().value_or(0)};
      require(sum == listed[name] || state->is_inexact(info.id), info.name + " does not end with what the tables list");
    }
    require(is_dirty || !last.is_inexact(info.id), "the end is inexact");
    const HeapPeak peak = stream.peak(info.id), of_version = version.peak(info.id);
    require(peak.in_use_bytes == of_version.in_use_bytes && peak.is_inexact == of_version.is_inexact, "another peak");
    require(peak.in_use_bytes >= last.in_use_bytes(info.id), "more at the end than at the peak");
    if (info.has(wire::heap_flag::contradicts_itself))
      require(peak.is_inexact && stream.state_at(0).is_inexact(info.id), "exact, though it contradicts itself");
    listed.erase(name);
  }
  require(std::all_of(listed.begin(), listed.end(), [](const auto& row) { return row.second == Sum(); }),
          "a pool without a heap");
}

}  // namespace

FUZZ_TARGET(fuzz_torch_trace, data, size) {
  SnapshotFromBytes source(data, size);
  const TorchSnapshot snapshot = source.make();
  const Trace trace = trace_from_torch(snapshot);
  require_the_end(snapshot, trace, source.is_dirty());
  if (size % 32 == 0) ask_all_questions(trace);
  return 0;
}
