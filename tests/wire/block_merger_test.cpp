// Merged small blocks, compared with the original stream: the same heap with the same slots and ids at every position;
// missing blocks stay missing.
#include "collector/wire/block_merger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "analysis/trace/stream.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::wire {
namespace {

using Random = std::mt19937_64;
using SharedBlocks = std::vector<SharedBlock>;

// A stream of two heaps (the second is made on the way), with definitions, losses, listings and blocks of all lengths.
SharedBlocks make_stream(unsigned seed, std::size_t events, unsigned events_in_block) {
  Random random(seed);
  SharedBlocks blocks;
  StreamWriter writer(3, [&](SharedBlock block) { blocks.push_back(std::move(block)); });
  std::uint32_t heaps = 0;
  const auto make_heap = [&] {
    HeapRecord heap;
    heap.flags = random() % 2 == 0 ? heap_flag::has_regions : 0;
    heaps = writer.define_heap(heap, "heap " + std::to_string(heaps), "device");
  };
  make_heap();
  std::vector<std::pair<std::uint32_t, std::uint64_t>> live;
  for (std::int64_t time = 0; writer.next_event() < events; time += static_cast<std::int64_t>(random() % 1000)) {
    if (heaps < 4 && random() % (events / 3) == 0) make_heap();
    if (random() % 100 == 0) {
      writer.note_loss(random() % 3, time - 1000, time);
      if (random() % 2 == 0 || events_in_block > block_events_max) continue;  // A listing closes the block at hand.
      const std::uint32_t heap = 1 + static_cast<std::uint32_t>(random() % heaps);
      std::vector<LiveRecord> rows;
      for (const auto& [owner, address] : live) {
        rows.emplace_back();
        rows.back().address = address;
        rows.back().size = 512;
        if (owner != heap) rows.pop_back();
      }
      writer.list_heap(heap, {}, rows, time);
    } else if (!live.empty() && random() % 2 == 0) {
      std::swap(live[random() % live.size()], live.back());
      writer.free(live.back().first, live.back().second, 0, 0, time);
      live.pop_back();
    } else {
      AllocRecord block;
      block.heap = 1 + static_cast<std::uint32_t>(random() % heaps);
      block.address = random() % 100'000 * 4096;
      block.size = (1 + random() % 8) * 512;
      block.requested = block.size - random() % 512;
      block.stack = writer.define_stack(
          0, writer.define_frame("f" + std::to_string(random() % 50), "a.py", static_cast<std::uint32_t>(seed)));
      block.tag = writer.define_string("tag " + std::to_string(random() % 20));
      live.emplace_back(block.heap, block.address);
      writer.alloc(block, time);
    }
    if (random() % events_in_block == 0) writer.flush();
  }
  writer.flush();
  return blocks;
}

SharedBlocks merge(const SharedBlocks& blocks) {
  SharedBlocks merged;
  BlockMerger merger([&](SharedBlock block) { merged.push_back(std::move(block)); });
  for (const SharedBlock& block : blocks) merger.add(block);
  merger.flush();
  return merged;
}

Stream read(const SharedBlocks& blocks) {
  Stream stream;
  for (const SharedBlock& block : blocks) EXPECT_EQ(std::nullopt, stream.append(block));
  return stream;
}

void expect_equal_slots(const StreamState& wanted, const StreamState& got) {
  ASSERT_EQ(wanted.slots().size(), got.slots().size());
  for (std::size_t slot = 0; slot < wanted.slots().size(); ++slot) {
    const LiveBlock &a = wanted.slots()[slot], &b = got.slots()[slot];
    ASSERT_EQ(a.is_live(), b.is_live());
    ASSERT_EQ(a.is_vacant, b.is_vacant);
    if (!a.is_live()) continue;
    ASSERT_EQ(std::tie(a.event, a.address, a.size, a.requested, a.heap, a.stack, a.stream, a.tag, a.flags),
              std::tie(b.event, b.address, b.size, b.requested, b.heap, b.stack, b.stream, b.tag, b.flags));
  }
}

void expect_equal_states(const StreamState& wanted, const StreamState& got, std::uint32_t heaps) {
  ASSERT_EQ(wanted.position(), got.position());
  ASSERT_EQ(wanted.time_ns(), got.time_ns());
  ASSERT_NO_FATAL_FAILURE(expect_equal_slots(wanted, got));
  for (std::uint32_t heap = 1; heap < heaps; ++heap) {
    ASSERT_EQ(wanted.heap(heap).in_use_bytes, got.heap(heap).in_use_bytes);
    ASSERT_EQ(wanted.heap(heap).is_inexact, got.heap(heap).is_inexact) << "heap " << heap;
    ASSERT_EQ(wanted.heap(heap).space.problems(), got.heap(heap).space.problems());
  }
  ASSERT_EQ(wanted.problems().bad_slots, got.problems().bad_slots);
  ASSERT_EQ(wanted.problems().undefined_heaps, got.problems().undefined_heaps);
  ASSERT_EQ(wanted.problems().losses, got.problems().losses);
}

void expect_equal_streams(const Stream& wanted, const Stream& got) {
  ASSERT_EQ(wanted.end_position(), got.end_position());
  ASSERT_EQ(wanted.counts().total, got.counts().total);
  ASSERT_EQ(wanted.counts().lost, got.counts().lost);
  ASSERT_EQ(wanted.counts().missing_blocks, got.counts().missing_blocks);
  ASSERT_EQ(wanted.first_time_ns(), got.first_time_ns());
  ASSERT_EQ(wanted.last_time_ns(), got.last_time_ns());
  const Definitions &a = wanted.definitions(), &b = got.definitions();
  ASSERT_EQ(a.next_string(), b.next_string());
  for (std::uint32_t id = 0; id < a.next_string(); ++id) ASSERT_EQ(a.text(id), b.text(id));
  ASSERT_EQ(a.stack_count(), b.stack_count());
  ASSERT_EQ(a.frame_count(), b.frame_count());
  ASSERT_EQ(a.heaps().size(), b.heaps().size());
  const auto heaps = static_cast<std::uint32_t>(a.heaps().size());
  for (std::uint32_t heap = 1; heap < heaps; ++heap)
    ASSERT_EQ(wanted.peak(heap).position, got.peak(heap).position) << "heap " << heap;
  for (std::uint64_t position = 0; position <= wanted.end_position(); position += 1 + wanted.end_position() / 97)
    ASSERT_NO_FATAL_FAILURE(expect_equal_states(wanted.state_at(position), got.state_at(position), heaps));
  ASSERT_NO_FATAL_FAILURE(expect_equal_states(wanted.last_state(), got.last_state(), heaps));
}

TEST(BlockMerger, every_record_stays_as_it_was) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const SharedBlocks blocks = make_stream(seed, 3000, 1 + seed);
    const SharedBlocks merged = merge(blocks);
    EXPECT_LE(merged.size(), 4U) << "one, and one more for each heap that is made on the way";
    ASSERT_NO_FATAL_FAILURE(expect_equal_streams(read(blocks), read(merged)));
  }
}

TEST(BlockMerger, what_is_missing_stays_missing) {
  Random random(1);
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    SharedBlocks blocks = make_stream(seed, 3000, 20);
    for (unsigned i = 0; i < 1 + seed % 5; ++i)
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(random() % (blocks.size() - 1)));
    const Stream wanted = read(blocks);
    ASSERT_GT(wanted.counts().missing_blocks, 0U);
    const SharedBlocks merged = merge(blocks);
    EXPECT_LT(merged.size(), 12U);
    ASSERT_NO_FATAL_FAILURE(expect_equal_streams(wanted, read(merged)));
    // Merging again changes nothing.
    const SharedBlocks again = merge(merged);
    ASSERT_NO_FATAL_FAILURE(expect_equal_streams(wanted, read(again)));
  }
}

SharedBlock numbered(const SharedBlock& block, std::uint32_t sequence) {
  auto copy = std::make_shared<Block>(*block);
  copy->header.sequence = sequence;
  copy->header.xxh3 = compute_block_hash(*copy);
  return copy;
}

TEST(BlockMerger, numbers_that_make_no_sense_do_not_become_an_order) {
  Random random(6);
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    SharedBlocks blocks = make_stream(seed, 1000, 20);
    for (const std::uint32_t sequence : {2U, 0xfffffffeU, 0xffffffffU, 5U, 9U}) {
      SharedBlock& block = blocks[random() % blocks.size()];
      block = numbered(block, sequence);
    }
    const Stream wanted = read(blocks), got = read(merge(blocks));
    EXPECT_EQ(wanted.end_position(), got.end_position());
    for (std::uint64_t position = 0; position <= wanted.end_position(); position += 10)
      ASSERT_EQ(wanted.state_at(position).heap(1).is_inexact, got.state_at(position).heap(1).is_inexact) << position;
  }
}

TEST(BlockMerger, a_block_has_at_most_so_many_events) {
  const SharedBlocks blocks = make_stream(4, 200'000, 1000);
  const SharedBlocks merged = merge(blocks);
  ASSERT_GT(blocks.size(), 150U);
  EXPECT_LT(merged.size(), 10U);
  EXPECT_TRUE(std::all_of(merged.begin(), merged.end(),
                          [](const SharedBlock& block) { return block->header.events <= block_events_max; }));
  ASSERT_NO_FATAL_FAILURE(expect_equal_streams(read(blocks), read(merged)));
}

TEST(BlockMerger, large_blocks_go_through_untouched) {
  // Without a small block before, the very same bytes; after small ones, with another number.
  const SharedBlocks large = make_stream(5, 300'000, 1U << 30);
  ASSERT_GE(large.size(), 4U);
  EXPECT_EQ(large, merge(large));
  SharedBlocks blocks = make_stream(5, 1000, 20);
  const auto small = static_cast<std::uint32_t>(blocks.size());
  const std::uint64_t events = blocks.back()->end_event();
  for (const SharedBlock& block : large) {
    auto moved = std::make_shared<Block>(*block);
    moved->header.first_event += events;
    blocks.push_back(numbered(moved, block->header.sequence + small));
  }
  const SharedBlocks merged = merge(blocks);
  ASSERT_LT(merged.size(), large.size() + 5);
  for (std::size_t i = 1; i < large.size(); ++i)
    EXPECT_EQ(large[large.size() - i]->payload, merged[merged.size() - i]->payload);
  BlockDecoder decoder;
  DecodedBlock decoded;
  for (const SharedBlock& block : merged) EXPECT_EQ(std::nullopt, decoder.decode(*block, decoded));
}

// A record that a newer version knows, or a known one with a field more: nothing of it may get lost.
SharedBlock block_of_the_future(std::uint16_t kind, std::size_t struct_bytes, std::uint32_t sequence) {
  auto block = std::make_shared<Block>();
  RowHeader row;
  row.kind = static_cast<RecordKind>(kind);
  row.struct_bytes = static_cast<std::uint16_t>(struct_bytes);
  row.words = static_cast<std::uint16_t>((sizeof(row) + struct_bytes) / 8);
  block->payload.resize(sizeof(row) + struct_bytes, 7);
  std::memcpy(block->payload.data(), &row, sizeof(row));
  block->header.form = BlockForm::rows;
  block->header.records = block->header.events = 1;
  block->header.stored_bytes = block->header.raw_bytes = static_cast<std::uint32_t>(block->payload.size());
  block->header.sequence = sequence;
  block->header.first_event = sequence;
  return block;
}

TEST(BlockMerger, what_this_version_does_not_know_goes_through_as_it_is) {
  const auto alloc = static_cast<std::uint16_t>(RecordKind::alloc);
  const SharedBlocks blocks = {block_of_the_future(alloc, sizeof(AllocRecord), 0), block_of_the_future(200, 32, 1),
                               block_of_the_future(alloc, sizeof(AllocRecord) + 8, 2),
                               block_of_the_future(alloc, sizeof(AllocRecord), 3),
                               block_of_the_future(alloc, sizeof(AllocRecord), 4)};
  const SharedBlocks merged = merge(blocks);
  ASSERT_EQ(4U, merged.size());
  EXPECT_NE(BlockForm::rows, merged[0]->header.form) << "rows become columns";
  EXPECT_EQ(blocks[1]->payload, merged[1]->payload);
  EXPECT_EQ(blocks[2]->payload, merged[2]->payload);
  EXPECT_EQ(2U, merged[3]->header.events);
  for (const SharedBlock& block : merged) EXPECT_EQ(compute_block_hash(*block), block->header.xxh3) << "as files need";
}

}  // namespace
}  // namespace hbmscope::wire
