// Any bytes as several PyTorch snapshots, which are told apart and joined whatever they contain: every snapshot belongs
// to one process, the joined history has at most the entries of its pieces, and its heaps are the sums of their blocks.
#include <string>
#include <vector>

#include "analysis/read/torch/join_pieces.h"
#include "analysis/read/torch/trace_from_torch.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;

constexpr std::uint64_t base = 0x7f0000000000, unit = 512;

class PiecesFromBytes {
 public:
  PiecesFromBytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  std::vector<TorchSnapshot> make() {
    std::vector<TorchSnapshot> pieces;
    while (at_ != end_ && pieces.size() < 6) {
      for (std::uint64_t left = draw(24); left > 0; --left) add_entry();
      pieces.push_back(save());
    }
    return pieces;
  }

 private:
  std::uint64_t draw(std::uint64_t n) { return at_ == end_ ? 0 : *at_++ % n; }

  void add_entry() {
    time_us_ += static_cast<std::int64_t>(draw(4)) * 700;  // Near others or not (overlap_tolerance_us).
    Entry& entry = entries_.emplace_back();
    entry.action = static_cast<TorchAction>(draw(11));
    entry.address = base + draw(16) * unit;
    entry.size = static_cast<std::int64_t>(draw(4) * unit);
    entry.time_us = draw(16) == 15 ? absent_time : time_us_;
  }

  // The last entries, which may begin anywhere, and any tables.
  TorchSnapshot save() {
    TorchSnapshot snapshot;
    snapshot.file = "piece";
    snapshot.stacks.caller = {TorchStackId::none};
    snapshot.stacks.innermost = {TorchFrameId{0}};
    for (std::uint64_t left = draw(3); left > 0; --left) add_segment(snapshot, left);
    snapshot.traces.resize(2);
    snapshot.traces[1].device = 1;
    const std::size_t first = draw(entries_.size() + 1), device = draw(2);
    const auto shift_us = static_cast<std::int64_t>(draw(3));
    for (std::size_t i = first; i < entries_.size(); ++i) {
      TorchTrace& trace = snapshot.traces[(i + device) % 8 == 0 ? 1 : 0];
      const auto row = static_cast<std::uint32_t>(trace.size());
      trace.action.push_back(entries_[i].action);
      trace.address.push_back(entries_[i].address);
      trace.size_bytes.push_back(entries_[i].size);
      trace.stream.push_back(0);
      trace.time_us.push_back(entries_[i].time_us == absent_time ? absent_time : entries_[i].time_us + shift_us);
      trace.stack.push_back(TorchStackId::none);
      trace.user_metadata.push_back(StringId::empty);
      trace.compile_context.push_back(StringId::empty);
      trace.pool.push_back({});
      if (trace.action.back() == TorchAction::oom) trace.out_of_memory.push_back({row, 7});
      if (trace.action.back() == TorchAction::unknown) trace.other_actions.push_back({row, StringId::empty});
    }
    return snapshot;
  }

  void add_segment(TorchSnapshot& snapshot, std::uint64_t number) {
    TorchSegments& segments = snapshot.segments;
    TorchBlocks& blocks = snapshot.blocks;
    segments.device.push_back(static_cast<std::int32_t>(draw(2)));
    segments.address.push_back(base + (number - 1) * 8 * unit);
    segments.total_bytes.push_back(8 * unit);
    for (auto* column : {&segments.allocated_bytes, &segments.active_bytes, &segments.requested_bytes})
      column->push_back(absent_bytes);
    segments.stream.push_back(0);
    segments.type.push_back(TorchSegmentType::small);
    segments.pool_first.push_back(0);
    segments.pool_second.push_back(draw(2));
    segments.is_expandable.push_back(0);
    segments.stack.push_back(TorchStackId::none);
    const std::uint64_t split = 1 + draw(7);
    for (const std::uint64_t begin : {std::uint64_t{0}, split}) {
      blocks.address.push_back(segments.address.back() + begin * unit);
      blocks.size_bytes.push_back(static_cast<std::int64_t>((begin == 0 ? split : 8 - split) * unit));
      blocks.requested_bytes.push_back(absent_bytes);
      blocks.state.push_back(static_cast<TorchBlockState>(draw(4)));
      blocks.stack.push_back(TorchStackId::none);
      blocks.user_metadata.push_back(StringId::empty);
    }
    segments.block_begin.push_back(static_cast<std::uint32_t>(blocks.size()));
  }

  struct Entry {
    TorchAction action = TorchAction::unknown;
    std::uint64_t address = 0;
    std::int64_t size = 0, time_us = 0;
  };

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::vector<Entry> entries_;
  std::int64_t time_us_ = 1'700'000'000'000'000;
};

void require_sums(const Stream& stream, const StreamState& state) {
  std::uint64_t bytes = 0, in_use = 0;
  for (const LiveBlock& block : state.slots())
    if (block.is_live()) bytes += block.size;
  for (const HeapInfo& heap : stream.definitions().heaps())
    if (heap.id != 0) in_use += state.heap(heap.id).in_use_bytes;
  require(bytes == in_use, "heaps are not the sum of their blocks");
}

void require_joined(const std::vector<const TorchSnapshot*>& pieces) {
  const TorchSnapshot joined = join_torch_pieces(pieces);
  std::size_t entries = 0, before = 0;
  for (const TorchTrace& trace : joined.traces) entries += trace.size();
  for (const TorchRun& run : joined.earlier_runs) entries += run.trace.size();
  for (const TorchSnapshot* piece : pieces)
    for (const TorchTrace& trace : piece->traces) before += trace.size();
  require(entries + static_cast<std::size_t>(joined.import.count_of("entries_in_several_pieces")) == before,
          "entries that are neither kept nor counted");
  const Trace trace = trace_from_torch(joined);
  require(trace.import.count_of("encoding") == 0, "a block of the writer that the reader refuses");
  const Stream& stream = trace.streams.front();
  require_sums(stream, stream.last_state());
  const StreamState middle = stream.state_at(stream.end_position() / 2);
  require_sums(stream, middle);
}

}  // namespace

FUZZ_TARGET(fuzz_torch_pieces, data, size) {
  const std::vector<TorchSnapshot> snapshots = PiecesFromBytes(data, size).make();
  if (snapshots.empty()) return 0;
  std::vector<const TorchSnapshot*> all;
  for (const TorchSnapshot& each : snapshots) all.push_back(&each);
  std::size_t grouped = 0;
  for (const std::vector<std::size_t>& group : find_torch_pieces(all)) {
    grouped += group.size();
    std::vector<const TorchSnapshot*> pieces;
    for (const std::size_t i : group) pieces.push_back(all[i]);
    if (pieces.size() > 1) require_joined(pieces);
  }
  require(grouped == snapshots.size(), "a snapshot of no process, or of two");
  if (all.size() > 1) require_joined(all);  // Also what would not be joined: gaps, and tables that contradict.
  return 0;
}
