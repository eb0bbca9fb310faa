// A reader that continues after a keyframe of the writer knows everything that a reader of the whole stream knows:
// every slot, figure, handle and definition, including streams with losses, listings and heaps that disappear.
#include <gtest/gtest.h>

#include <vector>

#include "analysis/trace/pass.h"
#include "analysis/trace/trace.h"
#include "collector/wire/block_merger.h"
#include "collector/wire/stream_writer.h"
#include "tests/trace/random_source.h"

namespace hbmscope {
namespace {

std::vector<LiveBlock> blocks_of(const StreamState& state) {
  std::vector<LiveBlock> blocks;
  for (LiveBlock block : state.slots()) {
    block.place = BlockIndex::none;
    blocks.push_back(block);
  }
  return blocks;
}

void expect_same(const Stream& whole, const Stream& skipped, const StreamState& expected, const StreamState& found) {
  const auto a = blocks_of(expected), b = blocks_of(found);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t slot = 0; slot < a.size(); ++slot) {
    ASSERT_EQ(a[slot].heap, b[slot].heap) << slot;
    ASSERT_EQ(a[slot].is_vacant, b[slot].is_vacant) << slot;
    if (!a[slot].is_live()) continue;
    ASSERT_EQ(a[slot].event, b[slot].event) << slot;
    ASSERT_EQ(a[slot].address, b[slot].address);
    ASSERT_EQ(a[slot].size, b[slot].size);
    ASSERT_EQ(a[slot].requested, b[slot].requested);
    ASSERT_EQ(a[slot].stack, b[slot].stack);
    ASSERT_EQ(a[slot].stream, b[slot].stream);
    ASSERT_EQ(a[slot].tag, b[slot].tag);
    ASSERT_EQ(a[slot].flags, b[slot].flags);
    ASSERT_EQ(whole.definitions().text(a[slot].tag), skipped.definitions().text(b[slot].tag));
  }
  ASSERT_EQ(whole.definitions().heaps().size(), skipped.definitions().heaps().size());
  for (std::uint32_t id = 1; id < whole.definitions().heaps().size(); ++id) {
    EXPECT_EQ(whole.definitions().heap(id).name, skipped.definitions().heap(id).name);
    const HeapState &heap = expected.heap(id), &other = found.heap(id);
    EXPECT_EQ(heap.in_use_bytes, other.in_use_bytes);
    EXPECT_EQ(heap.requested_bytes, other.requested_bytes);
    EXPECT_EQ(heap.pending_bytes, other.pending_bytes);
    EXPECT_EQ(heap.space.region_bytes(), other.space.region_bytes());
    EXPECT_EQ(heap.space.free_bytes(), other.space.free_bytes());
    EXPECT_EQ(heap.space.largest_free(), other.space.largest_free());
    EXPECT_EQ(heap.is_inexact, other.is_inexact);
    EXPECT_EQ(expected.physical().heap(id), found.physical().heap(id)) << id;
  }
  for (std::uint32_t id = 1; id < whole.definitions().stack_count(); ++id)
    ASSERT_EQ(whole.definitions().stack(id), skipped.definitions().stack(id));
  for (std::uint32_t id = 1; id < whole.definitions().frame_count(); ++id)
    ASSERT_EQ(whole.definitions().frame(id), skipped.definitions().frame(id));
  EXPECT_EQ(0U, skipped.definitions().bad_definitions());
  EXPECT_EQ(0U, skipped.definitions().missing_definitions());
}

void append(Stream& stream, const wire::SharedBlock& block, Stream::Gap keyframe_gap = Stream::Gap::skipped) {
  const bool is_keyframe = block->header.type == wire::BlockType::keyframe;
  const auto fault = stream.append(block, is_keyframe ? keyframe_gap : Stream::Gap::lost);
  ASSERT_FALSE(fault.has_value()) << *fault;
}

TEST(Skip, goes_on_as_if_all_had_been_read) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomSource source(seed);
    source.has_losses = seed % 3 == 0;
    const auto write = [&](std::uint64_t events) {
      for (std::uint64_t i = 0; i < events; ++i) {
        source.step();
        if (source.pick(200) == 0) source.writer.flush();
      }
      source.writer.flush();
    };
    write(source.pick(2) * 2000);
    const std::size_t seen = source.blocks.size();
    write(3000);
    const std::vector<wire::SharedBlock> keyframe = source.writer.make_keyframe();
    const std::size_t resumed = source.blocks.size();
    write(3000);

    Stream whole, skipped;
    for (std::size_t i = 0; i < resumed; ++i) append(whole, source.blocks[i]);
    for (std::size_t i = 0; i < seen; ++i) append(skipped, source.blocks[i]);
    const std::uint64_t before = skipped.end_position();
    for (const wire::SharedBlock& block : keyframe) append(skipped, block);
    // A reader that has seen everything learns nothing from it.
    const std::size_t blocks = whole.blocks().size();
    for (const wire::SharedBlock& block : keyframe) append(whole, block);
    if (!source.has_losses) {
      EXPECT_EQ(blocks, whole.blocks().size());
    }
    EXPECT_EQ(0U, whole.counts().skipped);

    const std::uint64_t at = whole.end_position();
    EXPECT_EQ(at, skipped.end_position());
    EXPECT_EQ(at - before, skipped.counts().skipped);
    EXPECT_EQ(0U, skipped.counts().missing_blocks);
    expect_same(whole, skipped, whole.last_state(), skipped.last_state());
    for (std::size_t i = resumed; i < source.blocks.size(); ++i) {
      append(whole, source.blocks[i]);
      append(skipped, source.blocks[i]);
    }
    expect_same(whole, skipped, whole.last_state(), skipped.last_state());
    EXPECT_EQ(0U, skipped.counts().missing_blocks);
    for (const std::uint64_t position : {at, at + 1, at + 1500, whole.end_position() - 1})
      expect_same(whole, skipped, whole.version().state_at(position), skipped.version().state_at(position));

    // Between the two, only the old state is known, and it is marked as inexact.
    if (before > 0 && before + 1 < at) {
      const StreamState between = skipped.version().state_at(at - 1);
      EXPECT_EQ(before, between.position());
    }
    // One that had seen nothing, by way of a file that is written anew.
    Stream late;
    wire::BlockMerger merger([&](const wire::SharedBlock& block) { append(late, block); });
    for (const wire::SharedBlock& block : keyframe) merger.add(block);
    for (std::size_t i = resumed; i < source.blocks.size(); ++i) merger.add(source.blocks[i]);
    merger.flush();
    EXPECT_EQ(at, late.counts().skipped);
    EXPECT_EQ(0U, late.counts().missing_blocks);
    expect_same(whole, late, whole.last_state(), late.last_state());
  }
}

TEST(Skip, a_pass_reports_blocks_that_went_unseen) {
  RandomSource source(7);
  while (source.heaps.empty()) source.define_something();
  for (int i = 0; i < 1000; ++i) source.take_block(source.heaps[0]);
  source.writer.flush();
  const std::size_t seen = source.blocks.size();
  const auto last = std::prev(source.live.end())->first;
  source.writer.free(last.first, last.second, 0, 0, source.time_ns += 5'000'000);
  Stream stream;
  for (std::size_t i = 0; i < seen; ++i) append(stream, source.blocks[i]);
  const std::size_t live = stream.last_state().heap(1).live_blocks;
  for (const wire::SharedBlock& block : source.writer.make_keyframe()) append(stream, block);
  EXPECT_EQ(live - 1, stream.last_state().heap(1).live_blocks);
  ASSERT_EQ(1U, stream.losses().size());
  EXPECT_TRUE(stream.losses()[0].is_skipped);
  EXPECT_EQ(5'000'000, stream.losses()[0].until_ns - stream.losses()[0].since_ns);
  std::size_t went = 0;
  pass_over_heaps(
      stream, ~std::uint64_t{0}, nullptr,
      [&](const StreamState&, const HeapChange& change, const wire::DecodedBlock&) { went += change.went.size(); },
      [](const wire::DecodedBlock&, const RecordPlace&) {});
  EXPECT_EQ(1U, went);
}

// A recording contains keyframes: after a damaged block, heaps become exact again.
TEST(Skip, what_is_lost_is_made_good_by_the_next_keyframe) {
  RandomSource source(11);
  while (source.heaps.empty()) source.define_something();
  std::uint64_t bytes = 0, keyframe_bytes = 0, keyframes = 0;
  for (int i = 0; source.writer.next_event() < 3'500'000; ++i) {
    source.take_block(source.heaps[0]);
    if (i % 1000 == 0) source.writer.write_keyframe_if_due();
  }
  source.writer.flush();
  for (const wire::SharedBlock& block : source.blocks) {
    const bool is_keyframe = block->header.type == wire::BlockType::keyframe;
    (is_keyframe ? keyframe_bytes : bytes) += block->payload.size();
    keyframes += is_keyframe ? 1 : 0;
  }
  EXPECT_GE(keyframes, 6U) << "of two blocks each";
  EXPECT_LE(static_cast<double>(keyframe_bytes), 0.25 * 3'500'000);
  Stream whole, damaged;
  for (const wire::SharedBlock& block : source.blocks) {
    append(whole, block, Stream::Gap::lost);
    const bool is_damaged = block->header.first_event >= 400'000 && block->header.first_event < 1'000'000;
    if (!is_damaged) append(damaged, block, Stream::Gap::lost);
  }
  EXPECT_EQ(0U, whole.counts().lost);
  EXPECT_GT(damaged.counts().lost, 500'000U);
  EXPECT_GT(damaged.counts().missing_blocks, 8U);
  EXPECT_EQ(0U, damaged.counts().skipped);
  EXPECT_TRUE(damaged.version().state_at((1U << 20) + 1).is_inexact(1)) << "before the keyframe";
  EXPECT_FALSE(damaged.last_state().is_inexact(1));
  expect_same(whole, damaged, whole.last_state(), damaged.last_state());
}

TEST(Skip, most_slots_are_empty) {
  RandomSource source(3);
  while (source.heaps.empty()) source.define_something();
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    wire::AllocRecord block;
    block.heap = source.heaps[0];
    block.address = RandomSource::page + i * 512;
    block.size = 512;
    source.writer.alloc(block, source.time_ns);
    addresses.push_back(block.address);
  }
  for (std::size_t i = 0; i < addresses.size(); ++i)
    if (i % 10 != 0 || i < 30'000) source.writer.free(source.heaps[0], addresses[i], 0, 0, source.time_ns);
  source.writer.flush();
  Stream whole, late;
  for (const wire::SharedBlock& block : source.blocks) append(whole, block);
  for (const wire::SharedBlock& block : source.writer.make_keyframe()) append(late, block);
  EXPECT_EQ(1000U, late.last_state().heap(source.heaps[0]).live_blocks);
  expect_same(whole, late, whole.last_state(), late.last_state());
}

// If it has lost a block or a row, nothing is reported as exact.
TEST(Skip, a_keyframe_that_is_not_whole) {
  RandomSource source(5);
  while (source.heaps.empty()) source.define_something();
  for (int i = 0; i < 1000; ++i) source.take_block(source.heaps[0]);
  const std::vector<wire::SharedBlock> keyframe = source.writer.make_keyframe();
  ASSERT_EQ(2U, keyframe.size());
  const std::size_t resumed = source.blocks.size();
  source.take_block(source.heaps[0]);
  source.writer.flush();
  Stream cut;
  append(cut, keyframe[0]);
  append(cut, source.blocks[resumed]);
  EXPECT_TRUE(cut.last_state().is_inexact(1));

  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  ASSERT_EQ(std::nullopt, decoder.decode(*keyframe[1], decoded));
  for (const bool has_ends : {true, false}) {
    SCOPED_TRACE(has_ends);
    wire::BlockEncoder encoder(0, wire::BlockType::keyframe, keyframe[1]->header.first_event,
                               keyframe[1]->header.sequence);
    encoder.add(wire::ListingRecord{}, 0);
    const auto slots = decoded.rows<wire::LiveRecord>();
    for (std::size_t i = 0; i + (has_ends ? 1 : 0) < slots.size(); ++i) encoder.add(slots[i], 0);
    for (const wire::ListingRecord& listing : decoded.rows<wire::ListingRecord>())
      if (has_ends && listing.phase != 0) encoder.add(listing, 0);
    Stream stream;
    append(stream, keyframe[0]);
    append(stream, std::make_shared<const wire::Block>(encoder.close()));
    append(stream, source.blocks[resumed]);
    EXPECT_GT(stream.last_state().heap(1).live_blocks, 0U);
    EXPECT_TRUE(stream.last_state().is_inexact(1));
  }
}

// A clock reading is repeated with the time at which it was made.
TEST(Skip, clocks_are_as_they_were_read) {
  RandomSource source(5);
  while (source.heaps.empty()) source.define_something();
  source.writer.add(wire::ClockRecord{1'000'000'000, 77}, 5000);
  source.time_ns = 9'000'000;
  source.take_block(source.heaps[0]);
  Stream late;
  for (const wire::SharedBlock& block : source.writer.make_keyframe()) append(late, block);
  ASSERT_EQ(1U, late.clocks().readings().size());
  EXPECT_EQ(5000, late.clocks().readings()[0].time_ns);
  EXPECT_EQ(1'000'000'000U, late.clocks().readings()[0].realtime_ns);
}

// Blocks that are missing before a keyframe are missing in a copy too.
TEST(Skip, a_copy_keeps_the_gap_before_a_keyframe) {
  RandomSource source(5);
  while (source.heaps.empty()) source.define_something();
  source.writer.flush();
  for (int i = 0; i < 5; ++i) {
    source.define_something();
    source.writer.flush();  // A block without events.
  }
  const std::size_t missing = source.blocks.size() - 3;
  std::vector<wire::SharedBlock> blocks = source.blocks;
  blocks.resize(missing);
  for (const wire::SharedBlock& block : source.writer.make_keyframe()) blocks.push_back(block);
  const std::size_t resumed = source.blocks.size();
  source.take_block(source.heaps[0]);
  source.writer.flush();
  blocks.push_back(source.blocks[resumed]);
  Stream stream, copy;
  for (const wire::SharedBlock& block : blocks) append(stream, block, Stream::Gap::lost);
  wire::BlockMerger merger([&](const wire::SharedBlock& block) { append(copy, block, Stream::Gap::lost); });
  for (const wire::SharedBlock& block : stream.blocks()) merger.add(block);
  merger.flush();
  EXPECT_GT(stream.counts().missing_blocks, 0U);
  EXPECT_EQ(stream.counts().missing_blocks, copy.counts().missing_blocks);
  expect_same(stream, copy, stream.last_state(), copy.last_state());
}

// Whatever a peer sends as one: refused, or a state that says that it is not to be relied on.
TEST(Skip, a_keyframe_that_makes_no_sense) {
  wire::BlockEncoder encoder(0, wire::BlockType::keyframe, 100, 3);
  encoder.add(wire::MarkerRecord{}, 5);
  Stream stream;
  EXPECT_EQ("a keyframe with events in it", stream.append(std::make_shared<const wire::Block>(encoder.close())));

  wire::HeapRecord heap;
  heap.id = 1;
  encoder = wire::BlockEncoder(0, wire::BlockType::keyframe, 100, 3);
  encoder.add(heap, 5);
  wire::ListingRecord listing;
  encoder.add(listing, 5);
  wire::LiveRecord far;
  far.heap = 1;
  far.slot = 4'000'000'000;
  far.size = 256;
  encoder.add(far, 5);
  wire::FreeSlotRecord free;
  free.slot = 4'000'000'000;
  encoder.add(free, 5);
  append(stream, std::make_shared<const wire::Block>(encoder.close()));
  EXPECT_EQ(0U, stream.last_state().slot_count());
  EXPECT_EQ(2U, stream.last_state().problems().bad_slots);
  EXPECT_TRUE(stream.last_state().heap(1).is_inexact);
}

}  // namespace
}  // namespace hbmscope
