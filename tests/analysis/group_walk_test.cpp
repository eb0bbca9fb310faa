// A walk in groups against a replay of the whole state, event by event.
#include "analysis/query/group_walk.h"

#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "analysis/trace/pass_from.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

namespace flag = wire::heap_flag;

// A job in small: allocations, frees at once and in two steps, regions, another heap, and what interrupts the ordinary.
class RandomJob : public TraceBuilder {
 public:
  explicit RandomJob(unsigned seed) : random_(seed) {
    heap_ = pool("GPU 0", flag::has_regions | flag::has_addresses | flag::has_requested);
    other_ = pool("GPU 1", flag::has_addresses);
    for (const char* function : {"a", "b", "c"}) stacks_.push_back(stack(function));
    grow(heap_, 0, places * place_bytes);
  }

  void run(int events) {
    for (int i = 0; i < events; ++i) step();
  }
  // What the source lists replaces what was live.
  void list(std::uint64_t blocks) {
    wire::RegionLiveRecord region;
    region.size = places * place_bytes;
    region.heap = heap_;
    std::vector<wire::LiveRecord> live;
    for (std::uint64_t place = 0; place < places; ++place) {
      states_[place] = place < blocks ? State::live : State::vacant;
      if (place >= blocks) continue;
      wire::LiveRecord& one = live.emplace_back();
      one.address = place * place_bytes;
      one.size = one.requested = 512 + place;
      one.heap = heap_;
    }
    EXPECT_EQ(0U, writer.list_heap(heap_, {&region, 1}, live, tick()));
  }
  void lose() {
    wire::LossRecord record;
    record.count = 5;
    writer.add(record, tick());
  }
  void move_some() {
    for (std::uint64_t place = 0; place + 1 < places; ++place)
      if (states_[place] == State::live && states_[place + 1] == State::vacant) {
        EXPECT_TRUE(writer.move(heap_, place * place_bytes, (place + 1) * place_bytes, tick()));
        std::swap(states_[place], states_[place + 1]);
        ++place;
      }
  }
  std::uint32_t heap_, other_;

 private:
  enum class State : std::uint8_t { vacant, live, awaits_free };
  static constexpr std::uint64_t places = 300, place_bytes = 4096, beside = 1 << 30;

  void step() {
    const auto chance = random_() % 256;
    if (chance < 4) {
      if (other_is_live_)
        EXPECT_TRUE(free(other_, beside));
      else
        alloc(other_, beside, 77);
      other_is_live_ = !other_is_live_;
    } else if (chance == 4) {
      grow(heap_, beside + regions_++ * place_bytes, place_bytes);
    } else {
      step_at(random_() % places);
    }
  }
  void step_at(std::uint64_t place) {
    const std::uint64_t address = place * place_bytes;
    State& state = states_[place];
    if (state == State::vacant) {
      alloc(heap_, address, 1 + random_() % place_bytes, stacks_[random_() % stacks_.size()]);
      state = State::live;
    } else if (state == State::live && random_() % 3 == 0) {
      EXPECT_TRUE(writer.free_requested(heap_, address, 0, 0, tick()));
      state = State::awaits_free;
    } else {
      EXPECT_TRUE(free(heap_, address));
      state = State::vacant;
    }
  }

  std::mt19937 random_;
  std::vector<std::uint32_t> stacks_;
  std::vector<State> states_ = std::vector<State>(places, State::vacant);
  std::uint64_t regions_ = 0;
  bool other_is_live_ = false;
};

using Point = std::tuple<std::uint64_t, std::int64_t, std::uint64_t, bool>;  // Position, time, in use, is inexact.

// By stack; each group's sum must be what the blocks of the replayed state add up to.
struct StackGroups {
  std::uint32_t number_of(const LiveBlock& block) const { return block.stack; }
  std::uint32_t number_of(const PhysicalHandle& handle) const { return handle.stack; }
};
struct Follower {
  std::vector<std::uint64_t> live = {};
  std::vector<Point> points = {};
  std::vector<std::vector<std::uint64_t>> sums = {};  // At each thousandth point.

  void changed(std::uint32_t group, std::uint64_t bytes) {
    if (group >= live.size()) live.resize(group + std::size_t{1});
    live[group] = bytes;
  }
  void point(const GroupPoint& point) {
    points.emplace_back(point.position, point.time_ns, point.in_use_bytes, point.is_inexact);
    if (points.size() % 1000 == 0) sums.push_back(live);
  }
};

Follower follow(const Stream& stream, std::uint32_t heap, std::uint64_t begin, std::uint64_t end) {
  StackGroups groups;
  Follower follower;
  GroupWalk<StackGroups, Follower> walk(stream, heap, groups, follower);
  EXPECT_TRUE(walk.run(begin, end, [](std::uint64_t) { return true; }));
  return follower;
}

// The same by the state alone.
Follower replay(const Stream& stream, std::uint32_t heap, std::uint64_t begin, std::uint64_t end, std::size_t groups) {
  Follower expected;
  const auto note = [&](const StreamState& state, std::uint64_t position, std::int64_t time_ns) {
    expected.points.emplace_back(position, time_ns, state.in_use_bytes(heap), state.is_inexact(heap));
    if (expected.points.size() % 1000 != 0) return;
    std::vector<std::uint64_t>& sums = expected.sums.emplace_back(groups);
    for (const LiveBlock& block : state.slots())
      if (block.heap == heap) sums[block.stack] += block.size;
  };
  StreamState state = begin == 0 ? StreamState() : stream.state_at(begin);
  state.make_heaps(stream.definitions());
  if (begin > 0) note(state, state.position(), state.time_ns());
  pass_over_states_from(
      stream, state, end, [](std::uint64_t) { return true; },
      [&](const StreamState& now, std::uint64_t position, std::int64_t time_ns, std::uint32_t changed) {
        if (changed == heap) note(now, position, time_ns);
      });
  return expected;
}

void expect_alike(RandomJob& job, std::uint64_t begin, std::uint64_t end) {
  job.writer.flush();
  const Stream& stream = job.trace.streams.front();
  for (const std::uint32_t heap : {job.heap_, job.other_}) {
    const Follower followed = follow(stream, heap, begin, end);
    const Follower expected = replay(stream, heap, begin, end, followed.live.size());
    ASSERT_EQ(expected.points.size(), followed.points.size());
    for (std::size_t i = 0; i < expected.points.size(); ++i) ASSERT_EQ(expected.points[i], followed.points[i]) << i;
    ASSERT_EQ(expected.sums.size(), followed.sums.size());
    for (std::size_t i = 0; i < expected.sums.size(); ++i) {
      std::vector<std::uint64_t> sums = followed.sums[i];
      sums.resize(expected.sums[i].size());
      ASSERT_EQ(expected.sums[i], sums) << i;
    }
  }
}

TEST(GroupWalk, an_ordinary_stream_is_as_its_replay) {
  RandomJob job(1);
  job.run(30'000);
  expect_alike(job, 0, ~std::uint64_t{0});
  expect_alike(job, 0, 17'001);
  expect_alike(job, 9'000, 17'001);
}

// Long enough that the walk leaves the state behind and comes back to it.
TEST(GroupWalk, whatever_is_not_ordinary_is_as_in_the_replay) {
  RandomJob job(2);
  job.list(40);  // Before the first event.
  job.run(280'000);
  job.list(120);
  job.run(3'000);
  job.move_some();
  job.run(280'000);
  job.lose();
  job.run(70'000);
  job.list(10);
  job.run(5'000);
  expect_alike(job, 0, ~std::uint64_t{0});
  expect_alike(job, 100'000, 500'000);
}

}  // namespace
}  // namespace hbmscope
