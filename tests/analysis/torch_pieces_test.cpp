// Histories of PyTorch that were saved in pieces. One history is recorded whole and cut; what the pieces make must be
// the same trace as the whole.
#include "analysis/read/torch/join_pieces.h"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/read/torch/piece_overlap.h"
#include "analysis/read/torch/trace_from_torch.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

constexpr std::uint64_t base = 0x7f0000000000, unit = 2 * mib;
constexpr std::size_t places = 64;

// A pool of one segment; its blocks have one to four units, and nothing is rounded.
class RecordedJob {
 public:
  explicit RecordedJob(unsigned seed, std::int32_t device = 0, std::int64_t begin_us = 1'700'000'000'000'000)
      : random_(seed), device_(device), time_us_(begin_us) {}

  void run(std::size_t entries) {
    for (std::size_t i = 0; i < entries; ++i) step();
  }
  std::size_t entries() const { return trace_.size(); }

  // Of the entries from `first` on, with clock values that differ by `shift_us`.
  TorchSnapshot save(std::size_t first, std::int64_t shift_us = 0) const {
    TorchSnapshot snapshot;
    snapshot.file = "step_" + std::to_string(entries());
    snapshot.has_traces = true;
    snapshot.stacks.caller = {TorchStackId::none, TorchStackId::none};
    snapshot.stacks.innermost.assign(2, TorchFrameId{0});
    // The same function has another id in every file.
    for (std::size_t i = 0; i < entries() % 3; ++i) snapshot.strings.intern("other " + std::to_string(i));
    snapshot.stacks.frames.push_back({snapshot.strings.intern("step"), snapshot.strings.intern("train.py"), 7});
    add_tables(snapshot);
    TorchTrace& trace = snapshot.traces.emplace_back();
    trace.device = device_;
    for (std::size_t i = first; i < entries(); ++i)
      push(trace, trace_.action[i], trace_.address[i], trace_.size_bytes[i], trace_.time_us[i] + shift_us);
    return snapshot;
  }

 private:
  void step() {
    time_us_ += 100 + static_cast<std::int64_t>(random_() % 50);
    const std::uint64_t length = 1 + random_() % 4, at = random_() % (places - length);
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
      if (block->first >= at + length || block->first + block->second <= at) continue;
      push(trace_, TorchAction::free_completed, base + block->first * unit,
           static_cast<std::int64_t>(block->second * unit), time_us_);
      blocks_.erase(block);
      return;
    }
    push(trace_, TorchAction::alloc, base + at * unit, static_cast<std::int64_t>(length * unit), time_us_);
    blocks_.emplace(at, length);
  }

  static void push(TorchTrace& trace, TorchAction action, std::uint64_t address, std::int64_t size,
                   std::int64_t time_us) {
    trace.action.push_back(action);
    trace.address.push_back(address);
    trace.size_bytes.push_back(size);
    trace.stream.push_back(0);
    trace.time_us.push_back(time_us);
    trace.stack.push_back(TorchStackId{1});
    trace.user_metadata.push_back(StringId::empty);
    trace.compile_context.push_back(StringId::empty);
    trace.pool.push_back({});
  }

  void add_tables(TorchSnapshot& snapshot) const {
    TorchSegments& segments = snapshot.segments;
    segments.device.push_back(device_);
    segments.address.push_back(base);
    segments.total_bytes.push_back(static_cast<std::int64_t>(places * unit));
    for (auto* column : {&segments.allocated_bytes, &segments.active_bytes, &segments.requested_bytes})
      column->push_back(absent_bytes);
    segments.stream.push_back(0);
    segments.type.push_back(TorchSegmentType::large);
    segments.pool_first.push_back(0);
    segments.pool_second.push_back(0);
    segments.is_expandable.push_back(0);
    segments.stack.push_back(TorchStackId::none);
    std::uint64_t at = 0;
    for (const auto& [begin, length] : blocks_) {
      if (begin > at) add_block(snapshot.blocks, at, begin - at, TorchBlockState::inactive);
      add_block(snapshot.blocks, begin, length, TorchBlockState::active_allocated);
      at = begin + length;
    }
    if (at < places) add_block(snapshot.blocks, at, places - at, TorchBlockState::inactive);
    segments.block_begin.push_back(static_cast<std::uint32_t>(snapshot.blocks.size()));
  }

  static void add_block(TorchBlocks& blocks, std::uint64_t at, std::uint64_t length, TorchBlockState state) {
    blocks.address.push_back(base + at * unit);
    blocks.size_bytes.push_back(static_cast<std::int64_t>(length * unit));
    blocks.requested_bytes.push_back(blocks.size_bytes.back());
    blocks.state.push_back(state);
    blocks.stack.push_back(TorchStackId{1});
    blocks.user_metadata.push_back(StringId::empty);
  }

  std::mt19937 random_;
  std::int32_t device_;
  std::int64_t time_us_;
  TorchTrace trace_;
  std::map<std::uint64_t, std::uint64_t> blocks_;  // Place to length, in units.
};

std::vector<std::vector<std::size_t>> groups_of(const std::vector<TorchSnapshot>& snapshots) {
  std::vector<const TorchSnapshot*> pointers;
  for (const TorchSnapshot& each : snapshots) pointers.push_back(&each);
  return find_torch_pieces(pointers);
}

Trace joined(const std::vector<TorchSnapshot>& snapshots) {
  std::vector<const TorchSnapshot*> pointers;
  const auto groups = groups_of(snapshots);
  EXPECT_EQ(groups.size(), 1U);
  for (const std::size_t i : groups.front()) pointers.push_back(&snapshots[i]);
  return trace_from_torch(join_torch_pieces(pointers));
}

std::map<std::uint64_t, std::uint64_t> live_blocks(const StreamState& state) {
  std::map<std::uint64_t, std::uint64_t> blocks;
  for (const LiveBlock& block : state.slots())
    if (block.is_live()) blocks.emplace(block.address, block.size);
  return blocks;
}

TEST(TorchPieces, overlapping_pieces_are_the_whole_history) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    RecordedJob job(seed);
    std::vector<TorchSnapshot> pieces;
    std::mt19937 random(seed);
    for (int piece = 0; piece < 6; ++piece) {
      job.run(50 + random() % 100);
      const std::size_t kept = 160;  // max_entries; more than between two snapshots.
      const auto shift_us = static_cast<std::int64_t>(random() % 5) - 2;
      pieces.push_back(job.save(job.entries() - std::min(kept, job.entries()), shift_us));
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
    const Trace whole = trace_from_torch(job.save(0)), made = joined(pieces);
    const Stream &expected = whole.streams.front(), &stream = made.streams.front();
    ASSERT_EQ(stream.end_position(), expected.end_position());
    for (std::uint64_t at = 0; at <= stream.end_position(); at += 7)
      ASSERT_EQ(live_blocks(stream.state_at(at)), live_blocks(expected.state_at(at))) << seed << " at " << at;
    EXPECT_EQ(stream.peak(1).in_use_bytes, expected.peak(1).in_use_bytes);
    EXPECT_FALSE(stream.peak(1).is_inexact);
    EXPECT_EQ(made.import.count_of("pieces"), 6);
    EXPECT_EQ(made.import.count_of("gap_between_pieces"), 0);
    EXPECT_EQ(made.import.count_of("end_contradicts_snapshot"), 0);
    std::int64_t entries = 0;
    for (const TorchSnapshot& piece : pieces) entries += static_cast<std::int64_t>(piece.traces.front().size());
    EXPECT_EQ(made.import.count_of("entries_in_several_pieces"), entries - static_cast<std::int64_t>(job.entries()));
  }
}

TEST(TorchPieces, a_gap_is_a_loss_and_the_heap_is_exact_again_after_it) {
  RecordedJob job(7);
  job.run(200);
  std::vector<TorchSnapshot> pieces = {job.save(100)};
  job.run(20);
  const TorchSnapshot unseen = job.save(0);
  const std::size_t first = job.entries();
  job.run(150);
  pieces.push_back(job.save(first));
  const Trace made = joined(pieces);
  EXPECT_EQ(made.import.count_of("gap_between_pieces"), 1);
  EXPECT_EQ(made.import.count_of("joined_by_addresses"), 1);
  EXPECT_EQ(made.import.worst(), Severity::loss);
  const Stream& stream = made.streams.front();
  EXPECT_EQ(live_blocks(stream.last_state()), live_blocks(trace_from_torch(pieces.back()).streams[0].last_state()));
  EXPECT_FALSE(stream.last_state().is_inexact(1));
  EXPECT_TRUE(stream.peak(1).is_inexact);
  // Just before the second piece: what the job held after the entries that are in neither.
  const auto wanted = live_blocks(trace_from_torch(unseen).streams[0].last_state());
  bool is_found = false;
  for (std::uint64_t at = 0; at <= stream.end_position(); ++at) is_found |= live_blocks(stream.state_at(at)) == wanted;
  EXPECT_TRUE(is_found);
}

TEST(TorchPieces, ranks_and_later_runs_are_not_joined) {
  std::vector<TorchSnapshot> files;
  for (unsigned rank = 0; rank < 3; ++rank) {  // At the same times, and at the same addresses.
    RecordedJob job(rank, static_cast<std::int32_t>(rank % 2));
    job.run(100);
    files.push_back(job.save(0));
  }
  RecordedJob later(9, 0, 1'800'000'000'000'000);  // It begins with an empty pool.
  later.run(100);
  files.push_back(later.save(0));
  EXPECT_EQ(groups_of(files).size(), 4U);
}

TEST(TorchPieces, without_a_common_entry_only_a_series_of_files_is_joined) {
  RecordedJob job(7);
  job.run(200);
  std::vector<TorchSnapshot> pieces = {job.save(100)};
  job.run(20);
  const std::size_t first = job.entries();
  job.run(150);
  pieces.push_back(job.save(first));
  const std::pair<const char*, const char*> names[] = {{"out/step_9.pickle", "out/step_010.pickle"},
                                                       {"a.1.pickle", "a.2.pickle"}};
  for (const auto& [before, after] : names) {
    pieces[0].file = before, pieces[1].file = after;
    EXPECT_EQ(groups_of(pieces).size(), 1U) << before;
  }
  const std::pair<const char*, const char*> others[] = {
      {"run_1/step_9.pickle", "run_2/step_10.pickle"}, {"before.pickle", "after.pickle"}, {"a1.pickle", "a1b.pickle"}};
  for (const auto& [before, after] : others) {
    pieces[0].file = before, pieces[1].file = after;
    EXPECT_EQ(groups_of(pieces).size(), 2U) << before;
  }
}

TEST(TorchPieces, pieces_of_several_processes_are_told_apart) {
  std::vector<RecordedJob> ranks;
  for (unsigned rank = 0; rank < 3; ++rank) ranks.emplace_back(rank);
  std::vector<TorchSnapshot> files;
  for (int piece = 0; piece < 3; ++piece)
    for (RecordedJob& rank : ranks) {
      rank.run(60);
      files.push_back(rank.save(rank.entries() - std::min<std::size_t>(rank.entries(), 100)));
    }
  const std::vector<std::vector<std::size_t>> expected = {{0, 3, 6}, {1, 4, 7}, {2, 5, 8}};
  EXPECT_EQ(groups_of(files), expected);
}

TEST(TorchPieces, of_a_repeated_pattern_the_nearest_time_is_the_overlap) {
  TorchTrace earlier, later;
  const auto push = [](TorchTrace& trace, std::int64_t time_us) {
    trace.action.push_back(TorchAction::alloc);
    trace.address.push_back(base);
    trace.size_bytes.push_back(512);
    trace.stream.push_back(0);
    trace.time_us.push_back(time_us);
  };
  for (std::int64_t i = 0; i < 10; ++i) push(earlier, 1'000'000 + i * 10);
  for (std::int64_t i = 6; i < 14; ++i) push(later, 1'000'001 + i * 10);
  EXPECT_EQ(torch::find_overlap(earlier, later), 4U);
}

}  // namespace
}  // namespace hbmscope
