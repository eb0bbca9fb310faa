// A trace as a profile, where tests/trace/report_vs_python.py does not reach: a pass that is cancelled, sizes that
// can't be, heaps that were never defined.
#include "analysis/trace/profile_from_trace.h"

#include <gtest/gtest.h>

#include "analysis/query/groups.h"
#include "analysis/query/profile_view.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

std::int64_t total_of(const Profile& profile, std::string_view type) {
  std::int64_t sum = 0;
  for (const std::int64_t value : profile.values.at(find_value_type(profile, type).value())) sum += value;
  return sum;
}

TEST(TraceProfile, allocated_counts_what_is_gone_and_not_what_lived_before) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0), stack = built.stack("main;step");
  built.live(heap, 0x1000, 100, stack);
  built.alloc(heap, 0x2000, 30, stack);
  built.free(heap, 0x2000);
  built.alloc(heap, 0x2000, 5);
  const auto profile = profile_from_trace(built.trace, built.states_at(), ProfileValues::live_and_allocated);
  EXPECT_EQ(105, total_of(*profile, "live_space"));
  EXPECT_EQ(2, total_of(*profile, "live_blocks"));
  EXPECT_EQ(35, total_of(*profile, "allocated_space"));
  EXPECT_EQ(2, total_of(*profile, "allocated_blocks"));
  const auto then = profile_from_trace(built.trace, built.states_at("#1"), ProfileValues::live_and_allocated);
  EXPECT_EQ(130, total_of(*then, "live_space"));
  EXPECT_EQ(30, total_of(*then, "allocated_space"));
  EXPECT_EQ(2U, profile_from_trace(built.trace, built.states_at()).value_types.size());
}

TEST(TraceProfile, allocated_has_the_handles_that_were_made_here) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0), stack = built.stack("main;step");
  built.create(heap, 1, 100, stack);
  built.create(heap, 2, 30, stack);
  built.import(heap, 3, 1000);  // Counted in the process that made it.
  built.release(1);
  built.create(heap, 4, 0);         // Is none, and left out ...
  built.create(heap + 1, 5, 4000);  // ... like one in a heap that was never defined.
  built.create(heap, 2, 7);         // A release was missed; it is another one.
  built.alloc(heap, 0x1000, 5, stack);
  const auto profile = profile_from_trace(built.trace, built.states_at(), ProfileValues::live_and_allocated);
  EXPECT_EQ(100 + 30 + 7 + 5, total_of(*profile, "allocated_space"));
  EXPECT_EQ(4, total_of(*profile, "allocated_blocks"));
  EXPECT_EQ(7 + 5, total_of(*profile, "live_space"));
  const auto then = profile_from_trace(built.trace, built.states_at("#1"), ProfileValues::live_and_allocated);
  EXPECT_EQ(100, total_of(*then, "allocated_space"));
}

TEST(TraceProfile, what_can_not_be_is_counted_without_its_bytes) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  built.alloc(heap, 0x1000, ~std::uint64_t{0} - 7);
  built.alloc(heap, ~std::uint64_t{0} - 15, 32);
  built.alloc(heap, 0x2000, 8);
  built.alloc(heap + 1, 0x3000, 16);  // In a heap that was never defined.
  const auto profile = profile_from_trace(built.trace, built.states_at(), ProfileValues::live_and_allocated);
  EXPECT_EQ(8, total_of(*profile, "allocated_space"));
  EXPECT_EQ(3, total_of(*profile, "allocated_blocks"));
  EXPECT_EQ(8, total_of(*profile, "live_space"));
}

TEST(TraceProfile, sums_beyond_2_63_are_left_out_and_reported) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  for (int i = 0; i < 3; ++i) {
    built.alloc(heap, 0x1000, std::uint64_t{1} << 62, built.stack("f" + std::to_string(i)));
    built.free(heap, 0x1000);
  }
  const auto profile = profile_from_trace(built.trace, built.states_at(), ProfileValues::live_and_allocated);
  EXPECT_EQ(std::int64_t{1} << 62, total_of(*profile, "allocated_space"));
  EXPECT_EQ(2, profile->import.count_of("sum_over_2_63"));
}

std::int64_t bytes_where(const Profile& profile, const std::string& where) {
  return make_view(std::make_shared<const Profile>(profile), {.where = where})->selected.bytes;
}

TEST(TraceProfile, filters_are_of_blocks_though_they_share_a_stack) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0), stack = built.stack("main;step");
  for (std::uint64_t i = 1; i <= 10; ++i) built.alloc(heap, 0x1000 * i, i, stack);
  const Profile profile = profile_from_trace(built.trace, built.states_at());
  EXPECT_EQ(55, bytes_where(profile, ""));
  EXPECT_EQ(9 + 10, bytes_where(profile, "size>8"));
  EXPECT_EQ(1 + 2, bytes_where(profile, "size<=2 stack:step"));
  EXPECT_EQ(
      5, bytes_where(*profile_from_trace(built.trace, built.states_at(), ProfileValues::live_and_allocated), "size=5"));
}

TEST(TraceProfile, private_pools_are_of_their_device_and_devices_have_numbers) {
  TraceBuilder built;
  const std::uint32_t first = built.heap("GPU 1", 0), pool = built.heap("GPU 1 private pool (0, 1)", 0);
  const std::uint32_t other = built.heap("GPU 10", 0);
  built.alloc(first, 0x1000, 1);
  built.alloc(pool, 0x2000, 2);
  built.alloc(other, 0x3000, 4);
  const Profile profile = profile_from_trace(built.trace, built.states_at());
  EXPECT_EQ(1 + 2, bytes_where(profile, "device:1"));
  EXPECT_EQ(4, bytes_where(profile, "device:10"));
  EXPECT_EQ(1 + 2, bytes_where(profile, "device=\"GPU 1\""));
  EXPECT_EQ(2, bytes_where(profile, "label:\"private pool\""));
  const auto view = make_view(std::make_shared<const Profile>(profile), {});
  EXPECT_EQ(2U, compute_groups(*view, "device").size());
  EXPECT_EQ(3U, compute_groups(*view, "heap").size());
}

TEST(TraceProfile, a_cancelled_pass_makes_no_profile) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  built.alloc(heap, 0x1000, 8);
  const auto states = built.states_at();
  PassControl control;
  EXPECT_TRUE(profile_from_trace(built.trace, states, ProfileValues::live_and_allocated, &control));
  EXPECT_EQ(1U, control.done_events);
  control.cancelled = true;
  EXPECT_FALSE(profile_from_trace(built.trace, states, ProfileValues::live_and_allocated, &control));
}

}  // namespace
}  // namespace hbmscope
