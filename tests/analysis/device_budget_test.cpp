#include "analysis/diagnose/device_budget.h"

#include "analysis/diagnose/diagnosis.h"
#include "analysis/trace/reported_figures.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

// A pool of 600 MiB with 500 MiB in use, on a device of 1 GiB of which `device_free` is free.
Diagnosis failed_with(std::uint64_t device_free, std::uint64_t requested_of_block = 500 * mib,
                      bool with_device = true) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.pool(
      "GPU_0_bfc", wire::heap_flag::has_addresses | wire::heap_flag::has_regions | wire::heap_flag::has_requested);
  builder.grow(heap, 0x1000000000, 600 * mib);
  wire::AllocRecord block;
  block.address = 0x1000000000;
  block.size = 500 * mib;
  block.requested = requested_of_block;
  block.heap = heap;
  builder.writer.alloc(block, builder.time_ns += 1000);
  if (with_device) builder.counter(heap, reported_figure::device, gib);
  builder.run_out(heap, 400 * mib, device_free);
  builder.writer.flush();
  return diagnose(builder.trace, find_failed_requests(builder.trace).front(), Depth::full);
}

std::uint64_t bytes_of(const DeviceBudget& budget, BudgetPart part) {
  std::uint64_t bytes = 0;
  for (const BudgetRow& row : budget.rows)
    if (row.part == part) bytes += row.bytes;
  return bytes;
}

TEST(DeviceBudget, adds_up_to_the_device) {
  const Diagnosis found = failed_with(300 * mib, 480 * mib);
  ASSERT_TRUE(found.budget);
  const DeviceBudget& budget = *found.budget;
  EXPECT_EQ(budget.total_bytes, gib);
  EXPECT_EQ(bytes_of(budget, BudgetPart::requested), 480 * mib);
  EXPECT_EQ(bytes_of(budget, BudgetPart::rounding), 20 * mib);
  EXPECT_EQ(bytes_of(budget, BudgetPart::pool_free), 100 * mib);
  EXPECT_EQ(bytes_of(budget, BudgetPart::free), 300 * mib);
  EXPECT_EQ(bytes_of(budget, BudgetPart::unseen), 124 * mib);
  EXPECT_EQ(budget.over_bytes, 0U);
  std::uint64_t sum = 0;
  for (const BudgetRow& row : budget.rows) sum += row.bytes;
  EXPECT_EQ(sum, gib);
}

TEST(DeviceBudget, has_what_is_free_in_the_rest_where_nothing_said_it) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.pool("GPU_0_bfc", wire::heap_flag::has_addresses | wire::heap_flag::has_regions);
  builder.grow(heap, 0x1000000000, 600 * mib);
  builder.alloc(heap, 0x1000000000, 500 * mib);
  builder.counter(heap, reported_figure::device, gib);
  builder.writer.flush();
  const Moment end = *find_moment(builder.trace, "end");
  const auto budget =
      find_device_budget(builder.trace, compute_states(builder.trace, end), {0, heap, end.positions[0], {}, {}});
  ASSERT_TRUE(budget);
  EXPECT_EQ(bytes_of(*budget, BudgetPart::requested) + bytes_of(*budget, BudgetPart::rounding), 500 * mib);
  EXPECT_EQ(bytes_of(*budget, BudgetPart::pool_free), 100 * mib);
  EXPECT_EQ(bytes_of(*budget, BudgetPart::unseen), 424 * mib);
  EXPECT_TRUE(budget->rows.back().is_derived);
}

TEST(DeviceBudget, says_by_how_much_contradicting_sources_are_over) {
  const Diagnosis found = failed_with(500 * mib);
  ASSERT_TRUE(found.budget);
  EXPECT_EQ(found.budget->over_bytes, 76 * mib);
  EXPECT_EQ(bytes_of(*found.budget, BudgetPart::unseen), 0U);
}

TEST(DeviceBudget, is_absent_where_a_figure_is_unknown) {
  EXPECT_FALSE(failed_with(wire::unknown_bytes).budget);
  EXPECT_FALSE(failed_with(300 * mib, 500 * mib, false).budget);
}

}  // namespace
}  // namespace hbmscope
