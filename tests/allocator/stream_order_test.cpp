// Memory in the order of streams: every allocator under random traffic on several streams, compared with a shadow that
// knows how far each stream had to get before another could use an address.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "allocator/reference/interface/virtual_addresses.h"
#include "allocator/reference/stream_order/stream_ordered.h"
#include "tests/allocator/candidates.h"
#include "tests/sizes.h"

namespace hbmscope::allocator {
namespace {

Stream stream_of(std::uint64_t number) {
  return reinterpret_cast<Stream>(number * 0x100);
}

// Streams that come as far as the test lets them: work is numbered, and an event is the number of the last work before
// it.
class ScriptedStreams final : public Streams {
 public:
  struct Place {
    Stream stream;
    std::uint64_t work;
  };
  ~ScriptedStreams() override { EXPECT_EQ(events_.size(), 0U) << "events that were never forgotten"; }

  Event record(Stream stream) override {
    EXPECT_FALSE(is_capturing(stream));
    events_.push_back(std::make_unique<Place>(Place{stream, asked_[stream]}));
    return events_.back().get();
  }
  bool is_done(Event event) override { return has_come_to(*static_cast<Place*>(event)); }
  void wait(Event event) override {
    const Place& place = *static_cast<Place*>(event);
    if (has_come_to(place)) return;
    ++waits;
    done_[place.stream] = place.work;
  }
  void forget(Event event) override {
    EXPECT_EQ(std::erase_if(events_, [&](const auto& known) { return known.get() == event; }), 1U);
  }
  bool is_capturing(Stream stream) override { return stream == captured; }

  // Called by the test.
  void launch(Stream stream) { ++asked_[stream]; }
  void advance(Stream stream, std::uint64_t work) { done_[stream] = std::min(asked_[stream], done_[stream] + work); }
  Place place_of(Stream stream) { return {stream, asked_[stream]}; }
  bool has_come_to(const Place& place) { return done_[place.stream] >= place.work; }

  Stream captured = stream_of(99);
  std::uint64_t waits = 0;

 private:
  std::map<Stream, std::uint64_t> asked_, done_;
  std::vector<std::unique_ptr<Place>> events_;
};

class StreamOrder : public testing::TestWithParam<Candidate> {
 protected:
  StreamOrder() : pool_(std::make_unique<StreamOrdered>(GetParam().options, upstream_, streams_)) {}

  struct Taken {
    std::uint64_t bytes;
    Stream stream;
    std::vector<Stream> users;
  };
  struct Left {
    std::uint64_t begin, end;
    std::vector<ScriptedStreams::Place> places;  // Where each of its streams was at the free.
  };

  Allocation take(std::uint64_t bytes, Stream stream) {
    const Allocation got = pool_->allocate({.bytes = bytes}, stream);
    if (got.outcome != Outcome::allocated) return got;
    for (const Left& left : left_) {
      if (left.end <= got.address || got.address + got.bytes <= left.begin) continue;
      for (const auto& place : left.places)
        EXPECT_TRUE(place.stream == stream || streams_.has_come_to(place)) << "handed on before its event was done";
    }
    const auto next = taken_.lower_bound(got.address);
    if (next != taken_.end()) {
      EXPECT_LE(got.address + got.bytes, next->first);
    }
    if (next != taken_.begin()) {
      EXPECT_LE(std::prev(next)->first + std::prev(next)->second.bytes, got.address);
    }
    taken_[got.address] = {got.bytes, stream, {}};
    return got;
  }
  void use(std::uint64_t address, Stream stream) {
    EXPECT_TRUE(pool_->record_stream(address, stream));
    taken_[address].users.push_back(stream);
  }
  void give_back(std::uint64_t address, Stream stream) {
    const Taken block = taken_[address];
    Left left{address, address + block.bytes, {streams_.place_of(stream), streams_.place_of(block.stream)}};
    for (const Stream user : block.users) left.places.push_back(streams_.place_of(user));
    left_.push_back(left);
    taken_.erase(address);
    EXPECT_EQ(pool_->free(address, stream), FreeOutcome::freed);
    std::erase_if(left_, [&](const Left& old) {
      return std::all_of(old.places.begin(), old.places.end(),
                         [&](const auto& place) { return streams_.has_come_to(place); });
    });
  }

  VirtualAddresses upstream_{{.device_bytes = 512 * mib}};
  ScriptedStreams streams_;
  std::unique_ptr<StreamOrdered> pool_;
  std::map<std::uint64_t, Taken> taken_;
  std::vector<Left> left_;
};

TEST_P(StreamOrder, no_block_is_another_streams_before_its_event_is_done) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 2500 && !HasFailure(); ++i) {
      const Stream stream = stream_of(random() % 4);
      streams_.launch(stream);
      if (random() % 3 == 0) streams_.advance(stream_of(random() % 4), random() % 8);
      const std::uint64_t size = 1 + (random() & ((std::uint64_t{1} << (8 + random() % 18)) - 1));
      if (taken_.empty() || random() % 100 < (i / 300 % 2 == 0 ? 70U : 30U)) {
        take(size, stream);
        continue;
      }
      const auto block = std::next(taken_.begin(), static_cast<std::ptrdiff_t>(random() % taken_.size()));
      if (random() % 6 == 0)
        use(block->first, stream_of(random() % 4));
      else
        give_back(block->first, random() % 10 == 0 ? stream : block->second.stream);
    }
    while (!taken_.empty()) give_back(taken_.begin()->first, taken_.begin()->second.stream);
  }
  pool_.reset();
  EXPECT_EQ(upstream_.claimed_bytes(), 0U);
}

TEST_P(StreamOrder, a_full_device_waits_for_the_other_stream_rather_than_to_fail) {
  std::vector<std::uint64_t> addresses;
  for (;;) {
    streams_.launch(stream_of(1));
    const Allocation got = take(24 * mib, stream_of(1));
    if (got.outcome != Outcome::allocated) break;
    addresses.push_back(got.address);
  }
  ASSERT_GE(addresses.size(), 12U);
  for (const std::uint64_t address : addresses) give_back(address, stream_of(1));
  EXPECT_EQ(take(24 * mib, stream_of(2)).outcome, Outcome::allocated);
  EXPECT_GT(streams_.waits, 0U);
}

TEST_P(StreamOrder, on_one_stream_the_answers_are_those_of_the_allocator_alone) {
  VirtualAddresses upstream({.device_bytes = 512 * mib});
  const auto alone = make_allocator(GetParam().options, upstream);
  std::mt19937_64 random(5);
  for (int i = 0; i < 1500; ++i) {
    streams_.launch(nullptr);
    if (!taken_.empty() && random() % 2 == 0) {
      const auto block = std::next(taken_.begin(), static_cast<std::ptrdiff_t>(random() % taken_.size()));
      EXPECT_EQ(alone->free(block->first), FreeOutcome::freed);
      give_back(block->first, nullptr);
      continue;
    }
    const std::uint64_t size = 1 + (random() & ((std::uint64_t{1} << (8 + random() % 18)) - 1));
    const Allocation got = take(size, nullptr), wanted = alone->allocate({.bytes = size});
    ASSERT_EQ(got.outcome, wanted.outcome);
    ASSERT_EQ(got.address, wanted.address);
  }
}

INSTANTIATE_TEST_SUITE_P(All, StreamOrder, testing::ValuesIn(candidates()),
                         [](const auto& tested) { return tested.param.name; });

struct Bench {
  Bench() {
    xla_gpu::Options options;
    options.limit_bytes = 64 * mib;
    pool = std::make_unique<StreamOrdered>(options, upstream, streams);
  }
  std::uint64_t take(std::uint64_t bytes, Stream stream) {
    streams.launch(stream);
    return pool->allocate({.bytes = bytes}, stream).address;
  }
  VirtualAddresses upstream{{}};
  ScriptedStreams streams;
  std::unique_ptr<StreamOrdered> pool;
};

TEST(StreamOrdered, a_freed_block_is_its_own_streams_at_once_and_anothers_later) {
  Bench bench;
  const std::uint64_t first = bench.take(4 * mib, stream_of(1));
  bench.pool->free(first, stream_of(1));
  EXPECT_EQ(bench.take(4 * mib, stream_of(1)), first);
  bench.pool->free(first, stream_of(1));
  EXPECT_NE(bench.take(4 * mib, stream_of(2)), first);
  bench.streams.advance(stream_of(1), 2);
  EXPECT_EQ(bench.take(4 * mib, stream_of(3)), first);
  EXPECT_EQ(bench.streams.waits, 0U);
}

TEST(StreamOrdered, a_block_with_a_second_user_stays_taken_until_that_one_is_done) {
  Bench bench;
  const std::uint64_t block = bench.take(4 * mib, stream_of(1));
  bench.streams.launch(stream_of(2));
  EXPECT_TRUE(bench.pool->record_stream(block, stream_of(2)));
  bench.pool->free(block, stream_of(1));
  EXPECT_TRUE(bench.pool->is_deferred(block));
  EXPECT_EQ(bench.pool->free(block, stream_of(1)), FreeOutcome::unknown_address);
  EXPECT_NE(bench.take(4 * mib, stream_of(1)), block);
  bench.streams.advance(stream_of(2), 1);
  EXPECT_EQ(bench.take(4 * mib, stream_of(1)), block);
}

TEST(StreamOrdered, a_pool_that_is_full_of_such_blocks_waits_for_the_oldest) {
  Bench bench;
  const std::uint64_t block = bench.take(60 * mib, stream_of(1));
  bench.streams.launch(stream_of(2));
  bench.pool->record_stream(block, stream_of(2));
  bench.pool->free(block, stream_of(1));
  EXPECT_EQ(bench.take(60 * mib, stream_of(1)), block);
  EXPECT_EQ(bench.streams.waits, 1U);
  EXPECT_EQ(bench.pool->waits(), 1U);
}

TEST(StreamOrdered, what_was_freed_during_a_capture_is_free_after_it) {
  Bench bench;
  const std::uint64_t block = bench.take(4 * mib, stream_of(1));
  bench.streams.captured = stream_of(1);
  EXPECT_EQ(bench.pool->free(block, stream_of(1)), FreeOutcome::freed);
  EXPECT_NE(bench.take(4 * mib, stream_of(2)), block);
  bench.streams.captured = stream_of(99);
  EXPECT_EQ(bench.take(4 * mib, stream_of(1)), block);
}

TEST(StreamOrdered, a_block_that_another_stream_frees_waits_for_the_one_it_was_made_for) {
  Bench bench;
  const std::uint64_t block = bench.take(4 * mib, stream_of(1));
  bench.streams.launch(stream_of(2));
  bench.pool->free(block, stream_of(2));
  EXPECT_NE(bench.take(4 * mib, stream_of(2)), block);
  bench.streams.advance(stream_of(1), 9);
  EXPECT_EQ(bench.take(4 * mib, stream_of(2)), block);
}

}  // namespace
}  // namespace hbmscope::allocator
