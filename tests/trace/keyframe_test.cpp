// The positions of keyframes, and that a state reached from one equals the state reached from the beginning.
#include "analysis/trace/keyframe.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/trace/stream.h"
#include "collector/wire/stream_writer.h"
#include "tests/trace/random_stream.h"

namespace hbmscope {
namespace {

constexpr std::uint64_t apart = wire::block_events_max;  // At least.

// Blocks that become unreadable at some time, as if they were spilled to a file that is gone: from then on only states
// that need none of them are exact.
class SpoiledLater {
 public:
  SpoiledLater() {
    writer.keep_state();
    wire::HeapRecord record;
    record.flags = wire::heap_flag::has_regions;
    heap = writer.define_heap(record, "heap", "device");
    wire::RegionGrowRecord region;
    region.heap = heap;
    region.size = std::uint64_t{1} << 40;
    writer.add(region, ++time_);
    writer.flush();
  }

  void alloc(std::uint64_t number) {
    wire::AllocRecord record;
    record.address = number * page;
    record.size = page / 2;
    record.heap = heap;
    writer.alloc(record, ++time_);
  }
  void free(std::uint64_t number) { writer.free(heap, number * page, 0, 0, ++time_); }
  void take_in(const wire::SharedBlock& block, Stream::Gap gap = Stream::Gap::lost) {
    blocks_.push_back(std::make_shared<wire::Block>(*block));
    ASSERT_EQ(std::nullopt, stream.append(blocks_.back(), gap));
  }
  void spoil() {
    for (const auto& block : blocks_) block->payload.clear();
  }
  bool has_keyframe_at(std::uint64_t position) const {
    const StreamState state = stream.version().state_at(position);
    EXPECT_EQ(position, state.position());
    return !state.heap(heap).is_inexact;
  }

  Stream stream;
  wire::StreamWriter writer{0, [this](const wire::SharedBlock& block) {
                              if (!is_skipping) take_in(block);
                            }};
  std::uint32_t heap = 0;
  bool is_skipping = false;

 private:
  static constexpr std::uint64_t page = 4096;
  std::vector<std::shared_ptr<wire::Block>> blocks_;
  std::int64_t time_ = 0;
};

TEST(Keyframe, lies_inside_of_a_plain_block_where_it_is_due_in_its_first_half) {
  SpoiledLater made;
  while (made.writer.next_event() < 40'000) made.alloc(made.writer.next_event());
  made.writer.flush();
  for (std::uint64_t i = 0; i < 2 * apart; ++i) i % 2 == 0 ? made.alloc(0) : made.free(0);
  made.writer.flush();
  ASSERT_EQ(4U, made.stream.blocks().size());
  ASSERT_LT(made.stream.blocks()[2]->header.first_event, apart);
  ASSERT_GT(made.stream.blocks()[2]->end_event(), apart + apart / 2);
  StreamState walked;
  for (const std::uint64_t at : {apart - 1, apart, apart + 1, apart + 3000, 2 * apart - 1, 2 * apart, 2 * apart + 1}) {
    made.stream.advance(walked, at);
    ASSERT_NO_FATAL_FAILURE(expect_same(walked, made.stream.version().state_at(at))) << at;
  }
  made.spoil();
  EXPECT_TRUE(made.has_keyframe_at(apart));
  EXPECT_FALSE(made.has_keyframe_at(apart - 1));
  EXPECT_FALSE(made.has_keyframe_at(apart + 1));
  EXPECT_TRUE(made.has_keyframe_at(2 * apart));
}

// Decoding most of a block for its remainder would cost more than that.
TEST(Keyframe, lies_at_the_end_of_a_block_where_it_is_due_in_its_second_half) {
  SpoiledLater made;
  while (made.writer.next_event() < 10'000) made.alloc(made.writer.next_event());
  made.writer.flush();
  for (std::uint64_t i = 0; i < 2 * apart; ++i) i % 2 == 0 ? made.alloc(0) : made.free(0);
  made.writer.flush();
  const std::uint64_t end = made.stream.blocks()[2]->end_event();
  ASSERT_GT(end, apart);
  made.spoil();
  EXPECT_FALSE(made.has_keyframe_at(apart));
  EXPECT_TRUE(made.has_keyframe_at(end));
}

// Many blocks are live, and soon few: then at most one block of events is between keyframes.
TEST(Keyframe, lie_near_each_other_again_behind_a_spike) {
  SpoiledLater made;
  constexpr std::uint64_t most = 2 * apart;
  for (std::uint64_t i = 0; i < most; ++i) made.alloc(i);
  for (std::uint64_t i = 0; i < most - 100; ++i) made.free(i);
  for (std::uint64_t i = 0; i < 2 * apart; ++i) i % 2 == 0 ? made.alloc(0) : made.free(0);
  made.writer.flush();
  made.spoil();
  for (std::uint64_t block = 1; block <= 5; ++block) EXPECT_TRUE(made.has_keyframe_at(1 + block * apart)) << block;
}

TEST(Keyframe, times_around_a_keyframe_are_as_event_by_event) {
  RandomStream made(300);
  made.run(4 * apart + 5000, 0);
  const Stream version = made.stream.version();
  StreamState walked;
  for (std::uint64_t due = apart; due <= 4 * apart; due += apart)
    for (const std::uint64_t at : {due - 1, due, due + 1, due + 2, due + 1500}) {
      version.advance(walked, at);
      StreamState sought = version.state_at(at);
      ASSERT_NO_FATAL_FAILURE(expect_same(walked, sought)) << at;
      StreamState later = walked;
      version.advance(later, at + 3000);
      version.advance(sought, at + 3000);
      ASSERT_NO_FATAL_FAILURE(expect_same(later, sought)) << at;
    }
}

TEST(Keyframe, what_is_out_of_order_behind_it_is_as_event_by_event) {
  for (unsigned seed = 400; seed < 404; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream made(seed);
    made.run(apart + 400, 0);
    made.run(4000, 20);
    const Stream version = made.stream.version();
    StreamState walked;
    Random random(seed);
    for (std::uint64_t at = apart - 200; at < apart + 4000; at += 1 + random() % 150) {
      version.advance(walked, at);
      ASSERT_NO_FATAL_FAILURE(expect_same(walked, version.state_at(at))) << at;
    }
  }
}

// If one is due, the source writes a keyframe: the next one is where the first block after that begins.
TEST(Keyframe, of_a_source_is_followed_by_one) {
  SpoiledLater made;
  while (made.writer.next_event() < apart - 5000) made.alloc(made.writer.next_event());
  made.writer.flush();
  made.is_skipping = true;
  for (int i = 0; i < 5000; ++i) made.free(1 + static_cast<std::uint64_t>(i) * 10);
  for (int i = 0; i < 5000; ++i) made.alloc(1 + static_cast<std::uint64_t>(i) * 10);
  const std::vector<wire::SharedBlock> reported = made.writer.make_keyframe();
  const std::uint64_t begin = made.writer.next_event();
  for (const wire::SharedBlock& block : reported) made.take_in(block, Stream::Gap::skipped);
  made.is_skipping = false;
  for (int i = 0; i < 5000; ++i) made.free(2 + static_cast<std::uint64_t>(i) * 10);
  made.writer.flush();
  ASSERT_EQ(10'000U, made.stream.counts().skipped);
  ASSERT_FALSE(made.stream.last_state().heap(made.heap).is_inexact);
  ASSERT_EQ(begin + 5000, made.stream.end_position());
  StreamState walked;
  for (const std::uint64_t at : {begin, begin + 1, begin + 2500, begin + 5000}) {
    made.stream.advance(walked, at);
    const StreamState sought = made.stream.version().state_at(at);
    ASSERT_FALSE(sought.heap(made.heap).is_inexact) << at;
    ASSERT_NO_FATAL_FAILURE(expect_same(walked, sought)) << at;
  }
  made.spoil();
  EXPECT_TRUE(made.has_keyframe_at(begin));
  EXPECT_FALSE(made.has_keyframe_at(begin + 1));
}

TEST(Keyframe, lie_farther_apart_where_memory_is_spared) {
  const auto alternate = [](SpoiledLater& made, std::uint64_t events) {
    for (std::uint64_t i = 0; i < events; ++i) i % 2 == 0 ? made.alloc(0) : made.free(0);
    made.writer.flush();
  };
  SpoiledLater made;
  while (made.writer.next_event() < 30'000) made.alloc(made.writer.next_event());
  alternate(made, 2 * apart);
  made.stream.spare_memory();
  alternate(made, 3 * apart);
  StreamState walked;
  for (std::uint64_t at = 1; at < made.stream.end_position(); at += 20'011) {
    made.stream.advance(walked, at);
    ASSERT_NO_FATAL_FAILURE(expect_same(walked, made.stream.version().state_at(at))) << at;
  }
  made.spoil();
  EXPECT_TRUE(made.has_keyframe_at(1 + 2 * apart));
  for (std::uint64_t block = 3; block <= 5; ++block) EXPECT_FALSE(made.has_keyframe_at(1 + block * apart)) << block;
}

// Peaks and timelines do not know where blocks end, nor that a keyframe was made inside of one.
TEST(Keyframe, what_is_counted_on_the_way_does_not_depend_on_it) {
  const auto peaks_and_buckets = [](std::uint64_t events_per_block) {
    SpoiledLater made;
    Random random(6);
    std::vector<std::uint64_t> live;
    std::uint64_t number = 0;
    while (made.writer.next_event() < 3 * apart) {
      if (made.writer.next_event() % events_per_block == 0) made.writer.flush();
      if (live.empty() || random() % 100 < 51) {
        live.push_back(number);
        made.alloc(number++);
        continue;
      }
      std::swap(live[random() % live.size()], live.back());
      made.free(live.back());
      live.pop_back();
    }
    made.writer.flush();
    std::vector<std::uint64_t> seen{made.stream.peak(made.heap).in_use_bytes, made.stream.peak(made.heap).position};
    const Timeline& timeline = made.stream.timeline(made.heap);
    seen.push_back(timeline.changes());
    for (const TimelineBucket& bucket : timeline.buckets(0, made.stream.end_position(), 10'000))
      for (const TimelineFigures& figures : {bucket.least, bucket.most, bucket.last})
        seen.insert(seen.end(), {bucket.first_position, figures.in_use, figures.pool, figures.largest_free});
    return seen;
  };
  const std::vector<std::uint64_t> of_blocks = peaks_and_buckets(apart);
  EXPECT_GT(of_blocks.size(), 3 * apart / Timeline::bucket_events);
  EXPECT_EQ(of_blocks, peaks_and_buckets(40'000));
  EXPECT_EQ(of_blocks, peaks_and_buckets(5'000));
}

}  // namespace
}  // namespace hbmscope
