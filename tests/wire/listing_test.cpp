// A recorder that loses events and then gets listings of its heaps: a reader's view of its stream, compared with the
// real heaps.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "analysis/trace/stream.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::wire {
namespace {

using Random = std::mt19937_64;

struct TrueBlock {
  std::uint64_t size = 0;
  std::uint32_t stack = 0;
  std::uint64_t event = before_the_stream;
  bool is_pending = false;
};

// A job with two heaps, and a recorder that hears of only some of what it does.
class LossyJob {
 public:
  explicit LossyJob(unsigned seed)
      : random_(seed),
        writer_(0, [this](SharedBlock block) { ASSERT_EQ(std::nullopt, stream.append(std::move(block))); }) {
    for (std::uint32_t heap = 1; heap <= 2; ++heap) {
      HeapRecord record;
      record.flags = heap == 1 ? heap_flag::has_regions : 0;
      writer_.define_heap(record, "heap " + std::to_string(heap), "device");
    }
    RegionGrowRecord region;
    region.address = region_begin;
    region.size = region_bytes;
    region.heap = 1;
    writer_.add(region, 0);
  }

  void run(int events, bool is_heard) {
    for (int i = 0; i < events; ++i) step(is_heard);
    if (!is_heard) {
      writer_.note_loss(static_cast<std::uint64_t>(events), time_ - events, time_);
      ++losses_;
    }
  }

  void list(std::uint32_t heap) {
    std::vector<RegionLiveRecord> regions;
    if (heap == 1) {
      regions.emplace_back();
      regions.back().address = region_begin;
      regions.back().size = region_bytes;
    }
    std::vector<LiveRecord> rows;
    for (const auto& [address, block] : heaps_[heap]) {
      LiveRecord row;
      row.address = address;
      row.size = block.size;
      row.stack = block.stack;
      row.event = block.event;
      row.flags = block.is_pending ? block_flag::is_pending : 0;
      rows.push_back(row);
    }
    std::shuffle(rows.begin(), rows.end(), random_);
    EXPECT_EQ(0U, writer_.list_heap(heap, regions, rows, time_));
  }

  void expect_exact(std::uint32_t heap) {
    writer_.flush();
    const StreamState& state = stream.last_state();
    ASSERT_FALSE(state.heap(heap).is_inexact);
    std::map<std::uint64_t, TrueBlock> found;
    std::uint64_t bytes = 0, pending_bytes = 0;
    for (const LiveBlock& block : state.slots()) {
      if (block.heap != heap) continue;
      found[block.address] = {block.size, block.stack, block.event, block.is_pending()};
    }
    ASSERT_EQ(heaps_[heap].size(), found.size());
    for (const auto& [address, block] : heaps_[heap]) {
      ASSERT_TRUE(found.contains(address));
      EXPECT_EQ(block.size, found[address].size);
      EXPECT_EQ(block.stack, found[address].stack);
      EXPECT_EQ(block.event, found[address].event);
      EXPECT_EQ(block.is_pending, found[address].is_pending);
      bytes += block.size;
      pending_bytes += block.is_pending ? block.size : 0;
    }
    EXPECT_EQ(bytes, state.heap(heap).in_use_bytes);
    EXPECT_EQ(pending_bytes, state.heap(heap).pending_bytes);
    EXPECT_EQ(found.size(), state.heap(heap).live_blocks);
    if (heap == 1) {
      EXPECT_EQ(region_bytes - bytes, state.heap(1).space.free_bytes());
    }
  }

  bool is_inexact(std::uint32_t heap) {
    writer_.flush();
    return stream.last_state().heap(heap).is_inexact;
  }
  const StreamWriter& writer() const { return writer_; }
  std::uint64_t unknown_frees() const { return unknown_frees_; }

  Stream stream;

 private:
  static constexpr std::uint64_t region_begin = 1 << 30, region_bytes = 1 << 24, place_bytes = 16'384;

  void step(bool is_heard) {
    ++time_;
    const std::uint32_t heap = 1 + static_cast<std::uint32_t>(random_() % 2);
    const std::uint64_t address = region_begin + random_() % (region_bytes / place_bytes) * place_bytes;
    const auto found = heaps_[heap].find(address);
    if (found == heaps_[heap].end()) {
      TrueBlock block{(1 + random_() % 32) * 512, static_cast<std::uint32_t>(random_() % 9), before_the_stream, false};
      AllocRecord record;
      record.address = address;
      record.size = block.size;
      record.stack = block.stack;
      record.heap = heap;
      if (is_heard) block.event = writer_.alloc(record, time_);
      heaps_[heap][address] = block;
    } else if (random_() % 4 == 0 && !found->second.is_pending) {
      found->second.is_pending = true;
      if (is_heard && !writer_.free_requested(heap, address, 0, 0, time_)) ++unknown_frees_;
    } else {
      heaps_[heap].erase(found);
      if (is_heard && !writer_.free(heap, address, 0, 0, time_)) ++unknown_frees_;
    }
    if (random_() % 200 == 0) writer_.flush();
  }

  Random random_;
  StreamWriter writer_;
  std::map<std::uint64_t, TrueBlock> heaps_[3];
  std::int64_t time_ = 0;
  std::uint64_t losses_ = 0, unknown_frees_ = 0;
};

TEST(Listing, after_a_loss_a_heap_is_exact_again) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    LossyJob job(seed);
    job.run(3000, true);
    job.expect_exact(1);
    for (int loss = 0; loss < 5; ++loss) {
      job.run(700, false);
      EXPECT_TRUE(job.is_inexact(1) && job.is_inexact(2));
      if (loss % 2 == 0) job.run(500, true);  // Events received in between refer to unknown blocks.
      job.list(1);
      ASSERT_NO_FATAL_FAILURE(job.expect_exact(1));
      EXPECT_TRUE(job.is_inexact(2)) << "only the other one was listed";
      job.list(2);
      // All later frees find their slots, and all later blocks get free ones.
      const std::uint64_t unknown = job.unknown_frees(), missed = job.writer().missed_frees();
      const std::uint64_t bad = job.stream.last_state().problems().bad_slots;
      for (int part = 0; part < 4; ++part) {
        job.run(500, true);
        ASSERT_NO_FATAL_FAILURE(job.expect_exact(1));
        ASSERT_NO_FATAL_FAILURE(job.expect_exact(2));
      }
      EXPECT_EQ(unknown, job.unknown_frees());
      EXPECT_EQ(missed, job.writer().missed_frees());
      EXPECT_EQ(bad, job.stream.last_state().problems().bad_slots);
    }
    EXPECT_EQ(0U, job.stream.last_state().problems().bad_slots);
    EXPECT_EQ(5U * 700, job.stream.counts().lost);
    // At earlier positions too: through keyframes or from the beginning.
    EXPECT_FALSE(job.stream.state_at(2000).heap(1).is_inexact);
  }
}

TEST(Listing, begins_a_block_and_spans_as_many_as_it_needs) {
  std::vector<SharedBlock> blocks;
  StreamWriter writer(0, [&](SharedBlock block) { blocks.push_back(std::move(block)); });
  const std::uint32_t heap = writer.define_heap({}, "pool", "device");
  std::vector<LiveRecord> rows(block_records_wanted + 10);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].address = (i + 1) * 512;
    rows[i].size = 512;
  }
  writer.note_loss(0, 5, 9, heap);
  EXPECT_EQ(0U, writer.list_heap(heap, {}, rows, 10));
  writer.flush();
  ASSERT_EQ(3U, blocks.size());
  BlockDecoder decoder;
  DecodedBlock decoded;
  ASSERT_EQ(std::nullopt, decoder.decode(*blocks[1], decoded));
  EXPECT_EQ(static_cast<std::uint8_t>(RecordKind::listing), decoded.kinds().front());
  Stream stream;
  for (const SharedBlock& block : blocks) ASSERT_EQ(std::nullopt, stream.append(block));
  EXPECT_EQ(rows.size(), stream.last_state().heap(heap).live_blocks);
  EXPECT_FALSE(stream.last_state().heap(heap).is_inexact);
  EXPECT_EQ(1U, stream.counts().lost) << "how many is not known, one at least";
}

TEST(Listing, slots_of_blocks_that_were_freed_unseen_are_taken_again) {
  Stream stream;
  StreamWriter writer(0, [&](SharedBlock block) { stream.append(std::move(block)); });
  const std::uint32_t heap = writer.define_heap({}, "pool", "device");
  for (std::int64_t loss = 0; loss < 50; ++loss) {
    AllocRecord block;
    block.heap = heap;
    block.size = 512;
    for (block.address = 512; block.address <= 10 * 512; block.address += 512) writer.alloc(block, loss);
    LiveRecord kept;
    kept.address = 512;
    kept.size = 512;
    writer.note_loss(9, loss, loss);
    writer.list_heap(heap, {}, {&kept, 1}, loss);
    EXPECT_TRUE(writer.free(heap, 512, 0, 0, loss));
  }
  writer.flush();
  const StreamState& state = stream.last_state();
  EXPECT_EQ(10U, state.slots().size());
  EXPECT_EQ(0U, state.heap(heap).live_blocks);
  EXPECT_EQ(0U, state.problems().bad_slots);
  EXPECT_EQ(50U * 10, stream.counts().alloc);
  EXPECT_EQ(50U, stream.counts().free) << "only those that were seen";
}

TEST(Listing, rows_of_one_address_and_numbers_that_no_event_has) {
  Stream stream;
  StreamWriter writer(0, [&](SharedBlock block) { stream.append(std::move(block)); });
  const std::uint32_t heap = writer.define_heap({}, "pool", "device");
  std::vector<LiveRecord> rows(3);
  rows[0].address = rows[1].address = 4096;
  rows[2].address = 8192;
  rows[0].size = rows[1].size = rows[2].size = 512;
  rows[2].event = 77;
  EXPECT_EQ(1U, writer.list_heap(heap, {}, rows, 10));
  EXPECT_TRUE(writer.free(heap, 4096, 0, 0, 11));
  EXPECT_FALSE(writer.free(heap, 4096, 0, 0, 12));
  writer.flush();
  ASSERT_EQ(1U, stream.last_state().heap(heap).live_blocks);
  EXPECT_EQ(before_the_stream, stream.last_state().slots()[1].event);
  EXPECT_EQ(0U, stream.last_state().problems().bad_slots);
}

// Blocks of a late source are listed in the middle of the stream, when slots are free: no reader uses a free slot for
// them.
TEST(Listing, blocks_that_lived_before_may_be_listed_late) {
  Stream stream;
  StreamWriter writer(0, [&](SharedBlock block) { stream.append(std::move(block)); });
  AllocRecord block;
  block.heap = writer.define_heap({}, "pool", "device");
  block.size = 512;
  for (block.address = 4096; block.address <= 20'480; block.address += 4096) writer.alloc(block, 1);
  EXPECT_TRUE(writer.free(block.heap, 4096, 0, 0, 2));
  EXPECT_TRUE(writer.free(block.heap, 8192, 0, 0, 2));
  LiveRecord late;
  late.heap = block.heap;
  late.size = 1024;
  late.address = 1 << 20;
  writer.live(late);
  late.address = 12'288;  // A block is already live there: its free was missed.
  writer.live(late);
  EXPECT_EQ(1U, writer.missed_frees());
  block.address = 2 << 20;
  for (int i = 0; i < 4; ++i, block.address += 4096) writer.alloc(block, 3);
  EXPECT_TRUE(writer.free(block.heap, 1 << 20, 0, 0, 4));
  writer.flush();
  const StreamState& state = stream.last_state();
  EXPECT_EQ(0U, state.problems().bad_slots);
  EXPECT_EQ(7U, state.heap(block.heap).live_blocks) << "two of the first five, one told late, four taken after it";
  EXPECT_EQ(6U * 512 + 1024, state.heap(block.heap).in_use_bytes);
}

// Possible in a damaged stream: the next block must not overwrite the listed one.
TEST(Listing, a_row_that_names_a_free_slot_is_counted_and_left_out) {
  Stream stream;
  StreamWriter writer(0, [&](SharedBlock block) { stream.append(std::move(block)); });
  AllocRecord block;
  block.heap = writer.define_heap({}, "pool", "device");
  block.size = 512;
  block.address = 4096;
  writer.alloc(block, 1);
  writer.free(block.heap, 4096, 0, 0, 2);
  LiveRecord row;
  row.heap = block.heap;
  row.address = 8192;
  row.size = 1024;
  row.slot = 0;
  writer.add(row, 2);
  writer.alloc(block, 3);
  writer.flush();
  EXPECT_EQ(1U, stream.last_state().problems().bad_slots);
  EXPECT_TRUE(stream.last_state().heap(block.heap).is_inexact);
  EXPECT_EQ(1U, stream.last_state().heap(block.heap).live_blocks);
  EXPECT_EQ(512U, stream.last_state().heap(block.heap).in_use_bytes);
}

}  // namespace
}  // namespace hbmscope::wire
