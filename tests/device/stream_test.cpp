// Order of work, events and the virtual clock.
#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "allocator/emulated/cuda/model/stream.h"

namespace hbmscope::device {
namespace {

TEST(Stream, work_runs_at_once_if_nothing_is_queued) {
  Stream stream(0, 0, 0);
  bool has_run = false;
  stream.run([&] { has_run = true; }, 0);
  EXPECT_TRUE(has_run);
  EXPECT_TRUE(stream.is_idle());
}

TEST(Stream, work_waits_for_a_host_function_before_it) {
  Stream stream(0, 0, 0);
  std::promise<void> gate;
  std::vector<int> order;
  stream.run_on_thread([&] {
    gate.get_future().wait();
    order.push_back(1);
  });
  stream.run([&] { order.push_back(2); }, 0);
  EXPECT_FALSE(stream.is_idle());
  gate.set_value();
  stream.wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Event, is_done_when_its_stream_gets_there) {
  Stream stream(0, 0, 0), other(0, 0, 0);
  const auto event = std::make_shared<Event>();
  EXPECT_TRUE(event->is_done()) << "never recorded";
  std::promise<void> gate;
  stream.run_on_thread([&] { gate.get_future().wait(); });
  Event::record(event, stream);
  EXPECT_FALSE(event->is_done());
  Event::make_wait(event, other);
  bool has_run = false;
  other.run([&] { has_run = true; }, 0);
  EXPECT_FALSE(has_run);
  gate.set_value();
  other.wait();
  EXPECT_TRUE(has_run);
  EXPECT_TRUE(event->is_done());
}

TEST(Event, times_are_those_of_the_work_between_them) {
  Stream stream(0, 0, 0);
  const auto begin = std::make_shared<Event>(), end = std::make_shared<Event>();
  Event::record(begin, stream);
  stream.run([] {}, 5000);
  stream.run([] {}, 2000);
  Event::record(end, stream);
  EXPECT_EQ(end->time_ns() - begin->time_ns(), 7000u);
}

TEST(Event, a_stream_that_waits_moves_its_clock) {
  Stream stream(0, 0, 0), other(0, 0, 0);
  const auto event = std::make_shared<Event>();
  stream.run([] {}, 5000);
  Event::record(event, stream);
  Event::make_wait(event, other);
  EXPECT_EQ(other.clock_ns(), 5000u);
}

}  // namespace
}  // namespace hbmscope::device
