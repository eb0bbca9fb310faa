#include "analysis/diagnose/pool_costs.h"

#include <gtest/gtest.h>

#include "analysis/diagnose/savings_pool.h"
#include "tests/analysis/recorded_requests.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

constexpr std::uint64_t gpu_bytes = 80 * gib;

std::vector<PoolCosts> costs_of(const Trace& trace, const std::vector<std::uint64_t>& positions,
                                HeapKey heap = {0, 1}) {
  PassControl control;
  auto found = compute_pool_costs(trace, heap, positions, control);
  EXPECT_TRUE(found) << found.error().text();
  EXPECT_EQ(control.done_events, control.total_events);
  return found ? *found : std::vector<PoolCosts>();
}

const PoolCostPart* find_part(const PoolCosts& costs, PoolCost cost) {
  const auto found =
      std::find_if(costs.parts.begin(), costs.parts.end(), [&](const PoolCostPart& part) { return part.cost == cost; });
  return found == costs.parts.end() ? nullptr : &*found;
}
std::int64_t bytes_of(const PoolCosts& costs, PoolCost cost) {
  const PoolCostPart* part = find_part(costs, cost);
  EXPECT_NE(part, nullptr) << text_from_pool_cost(cost);
  return part == nullptr ? -1 : part->bytes;
}
std::int64_t alone_of(const PoolCosts& costs, PoolCost cost) {
  const PoolCostPart* part = find_part(costs, cost);
  return part == nullptr ? -1 : part->alone_bytes;
}

std::int64_t sum_of(const PoolCosts& costs) {
  std::int64_t sum = 0;
  for (const PoolCostPart& part : costs.parts) sum += part.bytes;
  return sum;
}

void lift(allocator::LiftedRules& rules, PoolCost cost) {
  switch (cost) {
    case PoolCost::kept: rules.kept = true; break;
    case PoolCost::private_pools: rules.private_pools = true; break;
    case PoolCost::other_streams: rules.streams = true; break;
    case PoolCost::wrong_end: rules.ends = true; break;
    case PoolCost::unsplit: rules.unsplit = true; break;
    case PoolCost::rounding: rules.rounding = true; break;
    case PoolCost::pending:
    case PoolCost::fragmentation: break;
  }
}

// The pool after all of these operations, in a replay that ends there.
std::int64_t pool_of_replay(const WhatIfSource& source, std::uint64_t operations,
                            const allocator::LiftedRules& lifted) {
  Scenario own = own_scenario(source.own).value();
  if (auto* torch = std::get_if<allocator::pytorch::Options>(&own.options)) torch->lifted = lifted;
  if (auto* xla = std::get_if<allocator::xla_gpu::Options>(&own.options)) xla->lifted = lifted;
  allocator::PlayOptions how{own.upstream};
  how.operations_max = operations;
  return static_cast<std::int64_t>(allocator::play(source.requests.stream, own.options, how).statistics.pool_bytes);
}

// Some on another stream of the device.
allocator::RequestStream on_streams(allocator::RequestStream requests) {
  for (std::size_t i = 0; i < requests.operations.size(); i += 5) requests.operations[i].request.stream = 1;
  return requests;
}

TEST(PoolCosts, each_part_is_a_replay_without_its_rule_and_they_add_up) {
  const std::vector<allocator::Setting> growth = {{"XLA_PYTHON_CLIENT_PREALLOCATE", "false"}},
                                        expandable = {{"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"}},
                                        roundup = {{"PYTORCH_CUDA_ALLOC_CONF", "roundup_power2_divisions:4"}};
  const allocator::SetupWords settings[] = {
      {"", "classic_align", {}, gpu_bytes},   {"", "classic_align", growth, gpu_bytes},
      {"", "spatial_v3", {}, gpu_bytes},      {"pytorch", "", {}, gpu_bytes},
      {"pytorch", "", expandable, gpu_bytes}, {"pytorch", "", roundup, gpu_bytes}};
  for (std::size_t number = 0; number < std::size(settings); ++number) {
    const Recorded recorded(on_streams(random_requests(static_cast<unsigned>(number), 40 * gib)), settings[number]);
    const Trace& trace = recorded;
    const std::uint64_t end = trace.streams[0].end_position();
    const auto positions = positions_over_time(end, end / 3, 7);
    EXPECT_EQ(positions.size(), 8U);
    const auto source = find_pool_source(trace, {0, 1});
    ASSERT_TRUE(source);
    const auto all = costs_of(trace, positions);
    ASSERT_EQ(all.size(), positions.size());
    for (const PoolCosts& costs : all) {
      const auto& times = source->requests.positions;
      EXPECT_EQ(costs.requested_bytes, trace.streams[0].state_at(costs.position).heap(1).requested_bytes) << number;
      const auto operations =
          static_cast<std::uint64_t>(std::upper_bound(times.begin(), times.end(), costs.position) - times.begin());
      EXPECT_EQ(costs.confidence, Confidence::checked) << number;
      // A region comes in an event before that of its first block.
      if (operations == 0 || times[operations - 1] == costs.position) {
        EXPECT_EQ(costs.pool_bytes, trace.streams[0].state_at(costs.position).heap(1).space.region_bytes().value_or(0));
      }
      EXPECT_EQ(sum_of(costs),
                static_cast<std::int64_t>(costs.pool_bytes) - static_cast<std::int64_t>(costs.requested_bytes));
      allocator::LiftedRules lifted;
      std::int64_t before = pool_of_replay(*source, operations, lifted);
      const std::int64_t own = before;
      for (const PoolCostPart& part : costs.parts) {
        if (part.cost == PoolCost::fragmentation) {
          EXPECT_EQ(part.bytes, before - static_cast<std::int64_t>(costs.requested_bytes));
          continue;
        }
        lift(lifted, part.cost);
        const std::int64_t after = pool_of_replay(*source, operations, lifted);
        EXPECT_EQ(part.bytes, before - after) << number << ", " << text_from_pool_cost(part.cost);
        before = after;
        allocator::LiftedRules only;
        lift(only, part.cost);
        EXPECT_EQ(part.alone_bytes, own - pool_of_replay(*source, operations, only));
      }
      EXPECT_GE(bytes_of(costs, PoolCost::fragmentation), 0);
    }
    EXPECT_EQ(find_part(all.front(), PoolCost::wrong_end) != nullptr, number == 2);
    EXPECT_EQ(find_part(all.front(), PoolCost::other_streams) != nullptr, number >= 3);
    EXPECT_EQ(find_part(all.front(), PoolCost::pending), nullptr);
  }
}

// By hand, of PyTorch's allocator.
class Torch {
 public:
  Torch()
      : main(builder_.pool("GPU 0 PyTorch pool", flags)), graph(builder_.pool("GPU 0 private pool (1, 0)", flags)) {}

  // In a segment of its own, of these sizes.
  void fail(std::uint64_t bytes) { builder_.run_out(main, bytes, 0); }
  void release(std::uint32_t heap, std::uint64_t address, std::uint64_t size) {
    wire::RegionShrinkRecord record;
    record.address = address;
    record.size = size;
    record.heap = heap;
    builder_.writer.add(record, builder_.time_ns += 1000);
  }
  std::uint64_t take(std::uint32_t heap, std::uint64_t requested, std::uint64_t size, std::uint32_t stream = 0) {
    const std::uint64_t address = next_ += gib;
    builder_.grow(heap, address, size);
    wire::AllocRecord record;
    record.address = address;
    record.size = size;
    record.requested = requested;
    record.heap = heap;
    record.stream = stream;
    builder_.writer.alloc(record, builder_.time_ns += 1000);
    return address;
  }
  void free(std::uint32_t heap, std::uint64_t address) { builder_.free(heap, address); }
  void free_by_program(std::uint32_t heap, std::uint64_t address) {
    builder_.writer.free_requested(heap, address, 0, 0, builder_.time_ns += 1000);
  }
  PoolCosts costs() {
    builder_.writer.flush();
    return costs(builder_.trace.streams[0].end_position());
  }
  PoolCosts costs(std::uint64_t position) {
    builder_.writer.flush();
    return costs_of(builder_.trace, {position}, {0, main}).front();
  }

 private:
  static constexpr std::uint32_t flags =
      wire::heap_flag::has_addresses | wire::heap_flag::has_regions | wire::heap_flag::has_requested;
  TraceBuilder builder_;
  std::uint64_t next_ = 16 * gib;

 public:
  const std::uint32_t main, graph;  // Heaps.
};

TEST(PoolCosts, of_pytorch_by_hand) {
  Torch torch;
  torch.take(torch.main, 11 * mib + 1, 12 * mib);  // Its last 1 MiB - 512 B are too little to be split off.
  torch.free(torch.main, torch.take(torch.main, 30 * mib, 30 * mib));
  torch.free(torch.graph, torch.take(torch.graph, 30 * mib, 30 * mib));
  torch.free(torch.main, torch.take(torch.main, 30 * mib, 30 * mib, 1));
  torch.free_by_program(torch.main, torch.take(torch.main, 24 * mib, 24 * mib, 2));
  const PoolCosts costs = torch.costs();
  EXPECT_EQ(costs.confidence, Confidence::checked);
  EXPECT_EQ(costs.pool_bytes, 126 * mib);
  EXPECT_EQ(costs.requested_bytes, 11 * mib + 1);
  EXPECT_EQ(bytes_of(costs, PoolCost::kept), 90 * mib);
  EXPECT_EQ(alone_of(costs, PoolCost::kept), 90 * mib);
  EXPECT_EQ(bytes_of(costs, PoolCost::pending), 24 * mib);
  EXPECT_EQ(alone_of(costs, PoolCost::pending), 0);  // It would be kept.
  EXPECT_EQ(bytes_of(costs, PoolCost::private_pools), 0);
  EXPECT_EQ(alone_of(costs, PoolCost::private_pools), 30 * mib);  // The first 30 MiB would have served.
  EXPECT_EQ(bytes_of(costs, PoolCost::other_streams), 0);
  EXPECT_EQ(alone_of(costs, PoolCost::other_streams), 30 * mib + 24 * mib);
  EXPECT_EQ(bytes_of(costs, PoolCost::unsplit), 0);  // It would be a hole of the same segment.
  EXPECT_EQ(bytes_of(costs, PoolCost::fragmentation), mib - 1);
  EXPECT_EQ(sum_of(costs), 126 * mib - (11 * mib + 1));
}

// What an exception lets go of after a failure is not a pending free of that time.
TEST(PoolCosts, what_the_program_freed_later_was_still_requested) {
  Torch torch;
  const std::uint64_t a = torch.take(torch.main, 30 * mib, 30 * mib), b = torch.take(torch.main, 40 * mib, 40 * mib);
  torch.fail(gib);  // Event 4.
  torch.free_by_program(torch.main, a);
  torch.free_by_program(torch.main, b);
  torch.free(torch.main, a);
  torch.free(torch.main, b);
  const PoolCosts at_failure = torch.costs(5);
  EXPECT_EQ(at_failure.requested_bytes, 70 * mib);
  EXPECT_EQ(bytes_of(at_failure, PoolCost::pending), 0);
  EXPECT_EQ(torch.costs(6).requested_bytes, 40 * mib);
  EXPECT_EQ(bytes_of(torch.costs(6), PoolCost::pending), 30 * mib);
  EXPECT_EQ(torch.costs().requested_bytes, 0U);
  EXPECT_EQ(bytes_of(torch.costs(), PoolCost::kept), 70 * mib);
}

// Nothing says in a trace that the program called torch.cuda.empty_cache(), and a replay doesn't call it.
TEST(PoolCosts, of_a_pool_that_the_program_emptied_are_approximate) {
  Torch torch;
  const std::uint64_t a = torch.take(torch.main, 30 * mib, 30 * mib);
  torch.take(torch.main, 40 * mib, 40 * mib);
  torch.free(torch.main, a);
  EXPECT_EQ(torch.costs().confidence, Confidence::checked);
  torch.release(torch.main, a, 30 * mib);
  const PoolCosts costs = torch.costs();
  EXPECT_EQ(costs.pool_bytes, 70 * mib);
  EXPECT_EQ(costs.recorded_pool_bytes, 40 * mib);
  EXPECT_EQ(costs.confidence, Confidence::approximate);
}

// In a nearly full pool, a rule that is lifted may move blocks so that another request is refused.
TEST(PoolCosts, what_is_requested_is_that_of_the_recording) {
  std::size_t checked = 0, approximate = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Recorded recorded(random_requests(seed, (44 + seed % 16) * gib, 500), {"", "classic_align", {}, gpu_bytes});
    const Trace& trace = recorded;
    const std::uint64_t end = trace.streams[0].end_position();
    for (const PoolCosts& costs : costs_of(trace, positions_over_time(end, end, 5))) {
      const HeapState& heap = trace.streams[0].state_at(costs.position).heap(1);
      EXPECT_EQ(costs.requested_bytes, heap.requested_bytes) << seed;
      EXPECT_EQ(sum_of(costs), static_cast<std::int64_t>(costs.pool_bytes - costs.requested_bytes));
      ++(costs.confidence == Confidence::checked ? checked : approximate);
    }
  }
  EXPECT_GT(checked, 50U);
  EXPECT_GT(approximate, 0U);
}

TEST(PoolCosts, of_a_preallocated_pool_by_hand) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.pool("GPU_0_bfc", wire::heap_flag::has_addresses | wire::heap_flag::has_regions);
  constexpr std::uint64_t base = 0x10000000000;
  builder.grow(heap, base, gib);
  builder.alloc(heap, base, 256 * mib);
  builder.alloc(heap, base + 256 * mib, 200 * mib);
  builder.free(heap, base);
  builder.writer.flush();
  const PoolCosts costs = costs_of(builder.trace, {4}, {0, heap}).front();
  EXPECT_EQ(costs.confidence, Confidence::checked);
  EXPECT_EQ(costs.pool_bytes, gib);
  EXPECT_EQ(bytes_of(costs, PoolCost::kept), gib - 456 * mib);
  EXPECT_EQ(bytes_of(costs, PoolCost::fragmentation), 256 * mib);
}

// PyTorch releases its cache before it refuses, also where the request would have fit without some rule.
TEST(PoolCosts, at_a_failure_they_are_those_after_it) {
  const Recorded recorded(random_requests(9, 30 * gib, 600), {"pytorch", "", {}, 32 * gib});
  const Trace& trace = recorded;
  ASSERT_FALSE(trace.streams[0].failures().empty());
  const std::uint64_t after = trace.streams[0].failures().front().event + 1;
  const PoolCosts costs = costs_of(trace, {after}).front();
  EXPECT_EQ(costs.confidence, Confidence::checked);
  EXPECT_EQ(costs.pool_bytes, trace.streams[0].state_at(after).heap(1).space.region_bytes());
  EXPECT_GT(bytes_of(costs, PoolCost::fragmentation), 0);
}

TEST(PoolCosts, are_unknown_where_there_is_nothing_to_replay) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.pool("GPU_0_bfc", 0);
  builder.writer.flush();
  PassControl control;
  const std::uint64_t position = 0;
  EXPECT_FALSE(compute_pool_costs(builder.trace, {0, heap}, std::span(&position, 1), control));
  const Recorded platform(random_requests(1, 4 * gib), {"platform", "", {}, gpu_bytes});
  EXPECT_FALSE(compute_pool_costs(platform, {0, 1}, std::span(&position, 1), control));
}

}  // namespace
}  // namespace hbmscope
