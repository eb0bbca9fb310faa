// Both halves of the live path in one process: rings that are written, and an observer that reads them.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <barrier>
#include <cstring>
#include <filesystem>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "analysis/trace/stream.h"
#include "collector/inject/rings.h"
#include "collector/serve/elf_symbols.h"
#include "collector/serve/observer.h"
#include "collector/serve/process_drain.h"
#include "tests/collector/rings_fixture.h"

namespace hbmscope {
namespace {

TEST_F(Rings, rows_go_round_the_ring_and_none_is_missing) {
  connect();
  constexpr std::uint64_t pairs = 200'000;  // 21 MiB of rows through a ring of 8.
  for (std::uint64_t i = 0; i < pairs; ++i) {
    ASSERT_TRUE(alloc(i * 512));
    ASSERT_TRUE(free(i * 512));
    if (i % 10'000 == 0) observer.serve(0);
  }
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).events, 2 * pairs);
  EXPECT_EQ(observer.processes().at(0).lost, 0U);
  EXPECT_FALSE(observer.processes().at(0).is_broken);
  EXPECT_EQ(stream.last_state().heap(1).live_blocks, 0U);
  EXPECT_EQ(stream.last_state().problems().unknown_frees, 0U);
}

TEST_F(Rings, a_full_ring_loses_and_the_next_row_says_how_many) {
  connect();
  std::uint64_t lost = 0;
  for (std::uint64_t i = 0; i < 200'000; ++i) lost += alloc(i * 512) ? 0 : 1;
  EXPECT_GT(lost, 0U);
  observer.serve(0);
  EXPECT_EQ(observer.processes().at(0).lost, lost);  // Noticed at once, though the thread has said nothing since.
  EXPECT_TRUE(alloc(std::uint64_t{1} << 40));
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).lost, lost);
  EXPECT_EQ(observer.processes().at(0).events, 200'000 - lost + 1);
  EXPECT_EQ(inject::rings.listing_round(), 2U);  // And listings of the heaps are requested.
}

// Only events that the job reported and nobody received are losses; a listing without room is not one.
TEST_F(Rings, a_listing_that_finds_no_room_is_no_event_that_was_lost) {
  connect();
  std::uint64_t lost = 0;
  for (std::uint64_t i = 0; i < 200'000; ++i) lost += alloc(i * 512) ? 0 : 1;
  EXPECT_GT(lost, 0U);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(inject::rings.begin_listing());
  observer.serve(0);
  EXPECT_EQ(observer.processes().at(0).lost, lost);
  ASSERT_TRUE(inject::rings.begin_listing());
  EXPECT_TRUE(inject::rings.end_listing(1));
  EXPECT_TRUE(alloc(std::uint64_t{1} << 40));
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).lost, lost);
  EXPECT_EQ(observer.processes().at(0).events, 200'000 - lost + 1);
  EXPECT_FALSE(stream.last_state().heap(1).is_inexact);
  EXPECT_EQ(stream.last_state().heap(1).live_blocks, 1U);
}

// Threads that have all rings but those that are lent, each with a block of 512 bytes, until `let_go`.
class HeldRings {
 public:
  template <class Take>
  explicit HeldRings(const Take& take) {
    for (std::uint64_t i = 0; i < wire::rings_wanted; ++i)
      threads_.emplace_back([this, &take, i] {
        take(i * 512);
        is_taken_.count_down();
        may_end_.wait();
      });
    is_taken_.wait();
  }
  ~HeldRings() {
    may_end_.count_down();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::latch is_taken_{wire::rings_wanted}, may_end_{1};
  std::vector<std::thread> threads_;
};

TEST_F(Rings, threads_without_a_ring_are_lent_one_and_lose_only_where_all_are_in_use) {
  connect();
  const HeldRings held([this](std::uint64_t at) { alloc(at); });
  constexpr std::uint64_t first = std::uint64_t{1} << 30;
  for (std::uint64_t i = 0; i < 100; ++i) std::thread([&, i] { EXPECT_TRUE(alloc(first + i * 512)); }).join();

  std::latch all(wire::rings_lent_wanted), may_end(1);
  std::vector<std::thread> giving;
  for (std::uint64_t i = 0; i < wire::rings_lent_wanted; ++i)
    giving.emplace_back([&] {
      inject::rings.begin_freeing(0);
      all.count_down();
      may_end.wait();
      inject::rings.end_freeing();
    });
  all.wait();
  std::thread([&] { EXPECT_FALSE(alloc(first - 512)); }).join();
  may_end.count_down();
  for (std::thread& thread : giving) thread.join();
  std::thread([&] { EXPECT_TRUE(alloc(first - 1024)); }).join();
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).events, wire::rings_wanted + 101);
  EXPECT_EQ(observer.processes().at(0).lost, 1U);
}

TEST_F(Rings, what_was_lent_to_threads_that_ended_in_a_call_comes_back) {
  connect();
  const HeldRings held([this](std::uint64_t at) { alloc(at); });
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t i = 0; i < wire::rings_lent_wanted; ++i)
      std::thread([] { inject::rings.begin_freeing(0); }).join();
    const std::uint64_t at = (std::uint64_t{1} << 30) + static_cast<std::uint64_t>(round) * 512;
    std::thread([at] { EXPECT_TRUE(take_of_driver(at)); }).join();
  }
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).events, wire::rings_wanted + 3);
  EXPECT_EQ(observer.processes().at(0).lost, 0U);
}

TEST_F(Rings, a_call_that_gives_back_has_its_place_in_time_without_a_ring_of_its_own_too) {
  connect();
  const HeldRings held([this](std::uint64_t at) { alloc(at); });
  for (int round = 0; round < 50; ++round) {
    std::thread([] {
      const std::uint64_t since = inject::rings.begin_freeing(0);
      // The driver reuses the address for another thread, whose call is reported first.
      std::thread([] {
        wire::AllocRecord record;
        record.size = 512;
        record.heap = 1;
        EXPECT_TRUE(inject::rings.add_of_driver(record));
      }).join();
      wire::FreeAtRecord record;
      record.heap = 1;
      EXPECT_TRUE(inject::rings.add_of_driver(record, since));
      inject::rings.end_freeing();
    }).join();
    if (round % 10 == 0) observer.serve(0);
  }
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).events, wire::rings_wanted + 100);
  EXPECT_EQ(stream.last_state().heap(1).live_blocks, wire::rings_wanted);
  EXPECT_EQ(stream.last_state().problems().unknown_frees, 0U);
  EXPECT_EQ(stream.last_state().count_problems(), 0U);
}

TEST_F(Rings, calls_of_the_driver_need_no_ring_of_their_own) {
  connect();
  constexpr std::ptrdiff_t threads = wire::rings_wanted + 20;
  std::barrier all(threads);
  std::vector<std::thread> running;
  for (std::ptrdiff_t i = 0; i < threads; ++i)
    running.emplace_back([&, i] {
      take_of_driver(static_cast<std::uint64_t>(i) * 512);
      all.arrive_and_wait();
    });
  for (std::thread& thread : running) thread.join();
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).events, static_cast<std::uint64_t>(threads));
  EXPECT_EQ(observer.processes().at(0).lost, 0U);
  EXPECT_EQ(stream.last_state().heap(1).live_blocks, static_cast<std::uint64_t>(threads));
}

TEST_F(Rings, a_call_of_the_driver_waits_for_an_observer_that_is_slow) {
  connect();
  std::uint64_t blocks = 0;
  while (alloc(blocks * 512)) ++blocks;  // Then the ring is full, and this one was lost.
  std::atomic<bool> is_done = false;
  std::thread job([&] {
    EXPECT_TRUE(take_of_driver(blocks * 512));
    is_done = true;
  });
  while (!is_done) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    observer.serve(0);
  }
  job.join();
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).events, blocks + 1);
  EXPECT_EQ(observer.processes().at(0).lost, 1U);
}

// Waiting ends: what a hurried job writes faster than it is read is lost, and counted.
TEST_F(Rings, a_job_that_does_nothing_but_call_the_driver_does_not_wait_for_ever) {
  connect();
  constexpr std::uint64_t blocks = 600'000;  // Five times what a ring holds.
  std::atomic<bool> is_done = false;
  std::uint64_t written = 0;
  std::thread job([&] {
    for (std::uint64_t i = 0; i < blocks; ++i) written += take_of_driver(i * 512) ? 1 : 0;
    is_done = true;
  });
  while (!is_done) observer.serve(2);
  job.join();
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).events, written);
  EXPECT_EQ(observer.processes().at(0).lost, blocks - written);
}

// As where only the driver's totals are recorded: nothing is waited for, so the observer must not be in a hurry.
TEST(Rounds, of_a_process_without_rings_slow_down) {
  serve::ProcessDrain drain(serve::RingMemory::of_nothing(), 0, [](const wire::SharedBlock&) {});
  std::int64_t before = drain.next_round_ns();
  for (int i = 0; i < 16; ++i, before = drain.next_round_ns()) {
    drain.drain(false);
    EXPECT_GT(drain.next_round_ns(), before);
  }
  EXPECT_GT(before, 5'000'000);
}

TEST_F(Rings, a_call_that_gives_back_holds_what_is_younger) {
  connect();
  alloc(512);
  std::barrier turn(2);
  std::thread frees([&] {
    turn.arrive_and_wait();
    const std::uint64_t since = inject::rings.begin_freeing(0);
    turn.arrive_and_wait();  // The driver has the address again,
    turn.arrive_and_wait();  // and reuses the address for another thread, whose call is reported first.
    wire::FreeAtRecord record;
    record.address = 512;
    record.heap = 1;
    inject::rings.add_of_driver(record, since);
    inject::rings.end_freeing();
  });
  turn.arrive_and_wait();
  turn.arrive_and_wait();
  alloc(512);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  observer.serve(0);
  EXPECT_EQ(observer.processes().at(0).events, 1U);
  turn.arrive_and_wait();
  frees.join();
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).events, 3U);
  EXPECT_EQ(stream.last_state().heap(1).live_blocks, 1U);
  EXPECT_EQ(stream.last_state().problems().unknown_frees, 0U);
}

// Longer than anything is held back: then the new owner of the address is reported first, and nothing is reported
// twice.
TEST_F(Rings, an_address_freed_by_an_unfinished_call_and_reused_is_recorded_in_order) {
  connect();
  EXPECT_TRUE(take_of_driver(512));
  std::barrier turn(2);
  std::thread frees([&] {
    wire::FreeAtRecord record;
    record.address = 512;
    record.heap = wire::block_at;
    const std::uint64_t since = inject::rings.begin_freeing(0);
    turn.arrive_and_wait();
    turn.arrive_and_wait();
    inject::rings.add_of_driver(record, since);
    inject::rings.end_freeing();
  });
  turn.arrive_and_wait();
  EXPECT_TRUE(take_of_driver(512));
  std::this_thread::sleep_for(std::chrono::nanoseconds(serve::hold_max_ns) + std::chrono::milliseconds(20));
  observer.serve(0);
  EXPECT_EQ(observer.processes().at(0).events, 3U);
  EXPECT_EQ(stream.counts().free, 1U);
  turn.arrive_and_wait();
  frees.join();
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).events, 3U);
  EXPECT_EQ(stream.counts().free, 1U);
  EXPECT_EQ(stream.last_state().heap(1).live_blocks, 1U);
  EXPECT_EQ(stream.last_state().count_problems(), 0U);
}

TEST_F(Rings, a_thread_that_ends_leaves_its_ring_to_the_next) {
  connect();
  constexpr std::uint64_t threads = 200;
  for (std::uint64_t i = 0; i < threads; ++i) std::thread([&] { alloc(i * 512); }).join();
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).events, threads);
  EXPECT_EQ(observer.processes().at(0).lost, 0U);
}

TEST_F(Rings, events_of_several_threads_are_merged_by_time) {
  connect();
  // One allocates, the other frees, in turns: out of order, a free would find no block.
  constexpr std::uint64_t turns = 2'000;
  std::barrier turn(2);
  std::thread frees([&] {
    for (std::uint64_t i = 0; i < turns; ++i) {
      turn.arrive_and_wait();
      free(i * 512);
    }
  });
  for (std::uint64_t i = 0; i < turns; ++i) {
    alloc(i * 512);
    turn.arrive_and_wait();
    if (i % 100 == 0) observer.serve(0);
  }
  frees.join();
  observer.finish();
  EXPECT_EQ(observer.processes().at(0).events, 2 * turns);
  EXPECT_EQ(stream.last_state().problems().unknown_frees, 0U);
  EXPECT_EQ(stream.last_state().heap(1).live_blocks, 0U);
}

TEST_F(Rings, what_is_no_collector_is_turned_away) {
  knock("hello", 5, -1);
  wire::Hello hello;
  knock(&hello, sizeof(hello), -1);
  const int unsealed = memfd_create("test", 0);
  ASSERT_EQ(ftruncate(unsealed, 1 << 20), 0);
  knock(&hello, sizeof(hello), unsealed);  // Cut while it is read, it would end the observer.
  close(unsealed);
  EXPECT_TRUE(observer.processes().empty());
  ASSERT_EQ(observer.refused().size(), 3U);
  EXPECT_NE(observer.refused()[1].find("it is not a collector"), std::string::npos);
  EXPECT_NE(observer.refused()[2].find("could shrink"), std::string::npos);
}

// As a busy machine delays a job.
TEST_F(Rings, who_pauses_between_coming_and_saying_is_heard) {
  const int peer = come();
  for (int i = 0; i < 3; ++i) observer.serve(0);
  EXPECT_TRUE(observer.refused().empty());
  const wire::Hello hello;
  const int unsealed = memfd_create("test", 0);
  ASSERT_EQ(ftruncate(unsealed, 1 << 20), 0);
  say(peer, &hello, sizeof(hello), unsealed);
  observer.serve(0);
  ASSERT_EQ(observer.refused().size(), 1U);
  EXPECT_NE(observer.refused()[0].find("could shrink"), std::string::npos) << "what it said was read";
  close(unsealed);
  close(peer);
}

TEST_F(Rings, files_that_come_with_nothing_said_are_closed) {
  const auto open_files = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  const int file = memfd_create("test", 0);
  const auto before = open_files();
  for (int i = 0; i < 5; ++i) knock("", 0, file);
  EXPECT_EQ(open_files(), before);
  EXPECT_EQ(observer.refused().size(), 5U);
  close(file);
}

TEST_F(Rings, of_many_who_say_nothing_the_first_are_let_go_and_a_job_is_taken) {
  std::vector<int> silent;
  for (int i = 0; i < 300; ++i) {
    silent.push_back(come());
    observer.serve(0);
  }
  ASSERT_GE(observer.refused().size(), 300U - 256U);
  EXPECT_NE(observer.refused()[0].find("it connected and sent nothing"), std::string::npos);
  connect();
  EXPECT_EQ(observer.processes().size(), 1U);
  for (const int one : silent) close(one);
}

TEST(Demangled, a_name_whose_text_would_be_endless_stays_as_it_is) {
  EXPECT_EQ(serve::demangled("_ZN2ns1fEi"), "ns::f(int)");
  EXPECT_EQ(serve::demangled("_Z1f1AIiiES_IS0_S0_E"), "f(A<int, int>, A<A<int, int>, A<int, int> >)");
  EXPECT_EQ(serve::demangled("_Z1fIJijEEvDpT_"), "void f<int, unsigned int>(int, unsigned int)");
  EXPECT_EQ(serve::demangled("main"), "main");
  std::string doubling = "_Z1f1AIiiE";  // Each type is a pair of the one before.
  for (const char of : std::string("0123456789ABCDEFGHIJKLM")) doubling += std::string("S_IS") + of + "_S" + of + "_E";
  EXPECT_EQ(serve::demangled(doubling), doubling);
  std::string packs = "_Z1fIJ" + std::string(100, 'i') + "EEv";  // A hundred times a hundred times a hundred.
  for (int i = 0; i < 3; ++i) packs += "DpFvT_";
  packs += "T_EEE";
  EXPECT_EQ(serve::demangled(packs), packs);
}

}  // namespace
}  // namespace hbmscope
