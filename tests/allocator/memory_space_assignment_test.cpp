// Values in VMEM: small programs whose answer is known, and random ones held against what must never happen.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "allocator/emulated/tpu/copy_queue.h"
#include "allocator/emulated/tpu/interval_picker.h"
#include "allocator/emulated/tpu/memory_space_assignment.h"
#include "tests/sizes.h"

namespace hbmscope::allocator::tpu {
namespace {

// Bytes are nanoseconds of copying.
AssignmentProblem problem_of(std::uint64_t capacity, std::vector<std::uint64_t> compute_ns) {
  AssignmentProblem problem;
  problem.capacity_bytes = capacity;
  problem.bytes_per_second = 1'000'000'000;
  for (const std::uint64_t ns : compute_ns) problem.operations.push_back({ns, 0, 0});
  problem.options.prefetches_across_programs = false;
  return problem;
}

AssignableValue parameter(std::uint64_t bytes, std::vector<std::int64_t> uses) {
  AssignableValue value;
  value.bytes = bytes;
  value.is_defined_in_hbm = value.can_cross_programs = true;
  for (const std::int64_t use : uses) value.uses.push_back({use, false});
  return value;
}

AssignableValue made_at(std::int64_t time, std::uint64_t bytes, std::vector<std::int64_t> uses) {
  AssignableValue value = parameter(bytes, std::move(uses));
  value.defined_at = time;
  value.is_defined_in_hbm = value.can_cross_programs = false;
  return value;
}

using Places = std::vector<std::array<std::int64_t, 4>>;  // Value, offset, begin, end.
Places places_of(const Assignment& assignment) {
  Places places;
  for (const Residence& each : assignment.residences)
    places.push_back({each.value, static_cast<std::int64_t>(each.offset), each.begin, each.end});
  return places;
}

// The result of libtpu 0.0.51 for v5e: six products of 4096 x 4096 in bf16 with one weight each, 719 us per product,
// 112 MiB. x is kept from run to run, the weights alternate between two offsets, and every other product stays in VMEM.
TEST(MemorySpaceAssignment, a_chain_of_products_has_the_offsets_of_the_compiler) {
  AssignmentProblem problem;
  problem.capacity_bytes = 112 * mib;
  problem.alignment = 512;
  problem.bytes_per_second = 820'000'000'000;
  problem.operations.assign(6, {719'000, 96 * mib, 0});
  problem.values.push_back(parameter(32 * mib, {0}));
  for (std::int64_t i = 0; i < 6; ++i) problem.values.push_back(parameter(32 * mib, {i}));
  for (std::int64_t i = 0; i < 6; ++i) problem.values.push_back(made_at(i, 32 * mib, {i + 1}));
  problem.values.back().uses.back().needs_hbm = true;
  const Assignment assignment = assign_memory_spaces(problem);
  const std::int64_t half = 32 * mib, most = 64 * mib;
  // Before it frees x, it needs a reason: 14 values of 32 MiB don't fit.
  const Places weights = {{0, 0, 0, 0},    {0, 0, 5, 6}, {2, half, 0, 1}, {3, 0, 1, 2},
                          {4, half, 2, 3}, {5, 0, 3, 4}, {6, half, 4, 5}};
  // It is not published which of the equal products come first: the second and fourth, or the first, third and fifth.
  const Places odd = {{8, most, 1, 2}, {10, most, 3, 4}};
  const Places even = {{7, most, 0, 1}, {9, most, 2, 3}, {11, most, 4, 5}};
  const Places places = places_of(assignment);
  ASSERT_GT(places.size(), weights.size());
  const auto behind = places.begin() + static_cast<std::ptrdiff_t>(weights.size());
  EXPECT_EQ(Places(places.begin(), behind), weights);
  const Places products(behind, places.end());
  EXPECT_TRUE(products == odd || products == even) << testing::PrintToString(products);
  EXPECT_EQ(assignment.prefetches, 5);
  EXPECT_EQ(assignment.evictions, 0);
  EXPECT_FALSE(assignment.is_use_in_vmem[1][0]) << "there is no time before the first product";
}

TEST(MemorySpaceAssignment, what_is_made_and_read_soon_stays_without_a_copy) {
  AssignmentProblem problem = problem_of(100, {10, 10, 10});
  problem.values = {made_at(0, 60, {1, 2})};
  const Assignment assignment = assign_memory_spaces(problem);
  EXPECT_EQ(places_of(assignment), (Places{{0, 0, 0, 2}}));
  EXPECT_TRUE(assignment.is_defined_in_vmem[0]);
  EXPECT_FALSE(assignment.needs_hbm[0]);
  EXPECT_EQ(assignment.prefetches + assignment.evictions, 0);
}

TEST(MemorySpaceAssignment, what_is_read_late_is_evicted_and_comes_back) {
  // Copying all of VMEM takes 100 ns: without a use a value stays for less than 800.
  AssignmentProblem problem = problem_of(100, {10, 200, 10, 900, 200, 10});
  problem.values = {made_at(0, 50, {2, 5})};
  const Assignment assignment = assign_memory_spaces(problem);
  ASSERT_EQ(places_of(assignment), (Places{{0, 0, 0, 2}, {0, 0, 4, 5}}));
  ASSERT_TRUE(assignment.residences[0].out);
  EXPECT_EQ(assignment.residences[0].out->after, 0);
  EXPECT_EQ(assignment.residences[0].out->before, 2);
  ASSERT_TRUE(assignment.residences[1].in);
  EXPECT_EQ(assignment.residences[1].in->after, 3);
  EXPECT_TRUE(assignment.needs_hbm[0]);
}

TEST(MemorySpaceAssignment, an_eviction_without_time_leaves_the_value_in_hbm) {
  // The last use needs HBM, as of an output, and the operations in between are too short.
  AssignmentProblem problem = problem_of(100, {10, 10, 10, 10, 10});
  problem.values = {made_at(0, 50, {2, 3, 4})};
  problem.values[0].uses[1].needs_hbm = true;
  const Assignment assignment = assign_memory_spaces(problem);
  EXPECT_FALSE(assignment.is_defined_in_vmem[0]);
  EXPECT_EQ(assignment.evictions, 0);
  EXPECT_EQ(assignment.is_use_in_vmem[0], (std::vector<bool>{false, false, false}));
  problem.operations[1].compute_ns = 50;
  const Assignment with_time = assign_memory_spaces(problem);
  EXPECT_TRUE(with_time.is_defined_in_vmem[0]);
  EXPECT_EQ(with_time.evictions, 1);
}

TEST(MemorySpaceAssignment, a_retry_gives_an_eviction_more_time) {
  // Another eviction takes operation 1; on the second try the end moves on to the next use.
  AssignmentProblem problem = problem_of(200, {0, 100, 100, 100, 100, 0, 2000, 0});
  problem.options.preferred_overlap_percent = 100;
  problem.values = {made_at(0, 100, {1, 7}), made_at(0, 90, {1, 7})};
  problem.values[0].uses[1].needs_hbm = problem.values[1].uses[1].needs_hbm = true;
  EXPECT_EQ(assign_memory_spaces(problem).evictions, 1);
  problem.options.retries_max = 2;
  EXPECT_EQ(assign_memory_spaces(problem).evictions, 2);
}

TEST(MemorySpaceAssignment, copies_share_the_bandwidth) {
  AssignmentProblem problem = problem_of(1000, {100, 0});
  problem.values = {parameter(60, {1}), parameter(50, {1})};
  Assignment assignment = assign_memory_spaces(problem);
  EXPECT_EQ(assignment.prefetches, 1);
  EXPECT_EQ(places_of(assignment), (Places{{0, 0, 0, 1}}));
  problem.operations[0].compute_ns = 110;
  EXPECT_EQ(assign_memory_spaces(problem).prefetches, 2);
}

TEST(MemorySpaceAssignment, limits_of_copies_in_flight_are_kept) {
  AssignmentProblem problem = problem_of(1000, {0, 1000, 0});
  problem.values = {parameter(60, {2}), parameter(50, {2}), parameter(40, {2})};
  EXPECT_EQ(assign_memory_spaces(problem).prefetches, 3);
  problem.options.prefetches_max = 2;
  EXPECT_EQ(assign_memory_spaces(problem).prefetches, 2);
  problem.options.prefetches_max = 0;
  EXPECT_EQ(assign_memory_spaces(problem).prefetches, 0);
}

TEST(MemorySpaceAssignment, a_prefetch_begins_where_it_overlaps_twice_its_time) {
  AssignmentProblem problem = problem_of(1000, {100, 100, 100, 100, 100});
  problem.values = {parameter(100, {4})};
  Assignment assignment = assign_memory_spaces(problem);
  ASSERT_EQ(assignment.residences.size(), 1);
  EXPECT_EQ(assignment.residences[0].in->after, 1);
  problem.options.preferred_overlap_percent = 300;
  EXPECT_EQ(assign_memory_spaces(problem).residences[0].in->after, 0);
  problem.options.picker = IntervalPicker::operation_count;
  problem.options.max_overlap = 1;
  EXPECT_EQ(assign_memory_spaces(problem).residences[0].in->after, 2);
  problem.options.min_overlap = 2;
  EXPECT_TRUE(assign_memory_spaces(problem).residences.empty());
}

TEST(MemorySpaceAssignment, what_gains_more_comes_first) {
  // Operation 1 waits for memory, operation 2 for computation; there is room for one of the two values.
  AssignmentProblem problem = problem_of(100, {500, 10, 500});
  problem.operations[1].bytes = 400;
  problem.values = {parameter(80, {2}), parameter(80, {1})};
  const Assignment assignment = assign_memory_spaces(problem);
  EXPECT_TRUE(assignment.is_use_in_vmem[1][0]);
  problem.capacity_bytes = 0;
  EXPECT_TRUE(assign_memory_spaces(problem).residences.empty());
  problem.capacity_bytes = 100;
  problem.options.is_on = false;
  EXPECT_TRUE(assign_memory_spaces(problem).residences.empty());
}

TEST(MemorySpaceAssignment, a_parameter_stays_from_run_to_run) {
  AssignmentProblem problem = problem_of(100, {100, 100, 100, 100});
  problem.options.prefetches_across_programs = true;
  problem.values = {parameter(40, {0, 1}), parameter(50, {0}), parameter(60, {0})};
  problem.values[2].can_cross_programs = false;
  problem.values[1].uses[0].needs_hbm = true;
  Assignment assignment = assign_memory_spaces(problem);
  // VMEM is too small for everything that is live at once: freed after its last use, copied again at the end.
  EXPECT_EQ(places_of(assignment), (Places{{0, 0, 0, 1}, {0, 0, 3, 4}}));
  EXPECT_TRUE(assignment.residences[0].is_from_last_run);
  EXPECT_TRUE(assignment.residences[1].is_for_next_run);
  EXPECT_EQ(assignment.prefetches, 0) << "it is not one of a run's own";
  problem.options.frees_across_programs = false;
  EXPECT_EQ(places_of(assign_memory_spaces(problem)), (Places{{0, 0, 0, 4}}));
  problem.options.frees_across_programs = true;
  problem.values.resize(1);
  EXPECT_EQ(places_of(assign_memory_spaces(problem)), (Places{{0, 0, 0, 4}})) << "nothing else wants the bytes";
  problem.options.cross_program_prefetches_max = 0;
  EXPECT_EQ(places_of(assign_memory_spaces(problem)), Places{}) << "operation 0 leaves no time before it";
}

// Random programs.

struct Trial {
  AssignmentProblem problem;
  std::mt19937_64 random;

  std::uint64_t from(std::uint64_t least, std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(least, most)(random);
  }

  explicit Trial(std::uint64_t seed) : random(seed) {
    const std::size_t operations = from(1, 30);
    problem = problem_of(from(1, 400), {});
    problem.alignment = from(0, 1) == 0 ? 1 : 16;
    for (std::size_t i = 0; i < operations; ++i)
      problem.operations.push_back(
          {from(0, 3) == 0 ? 0 : from(1, 200), from(0, 2) == 0 ? 0 : from(1, 300), from(0, 3)});
    for (std::size_t i = 0; i < from(1, 25); ++i) problem.values.push_back(value(operations));
    AssignmentOptions& options = problem.options;
    options.picker = from(0, 3) == 0 ? IntervalPicker::operation_count : IntervalPicker::cost_analysis;
    options.max_overlap = static_cast<std::uint32_t>(from(1, 8));
    options.residency_percent = static_cast<std::uint32_t>(from(50, 1000));
    if (from(0, 2) == 0) options.prefetches_max = static_cast<std::uint32_t>(from(0, 3));
    if (from(0, 2) == 0) options.evictions_max = static_cast<std::uint32_t>(from(0, 2));
    options.retries_max = static_cast<std::uint32_t>(from(1, 3));
    options.repacks_max = static_cast<std::uint32_t>(from(0, 5));
    options.prefetches_across_programs = from(0, 1) == 0;
    options.cross_program_prefetches_max = static_cast<std::uint32_t>(from(0, 3));
    options.frees_across_programs = from(0, 1) == 0;
  }

  AssignableValue value(std::size_t operations) {
    const std::int64_t end = static_cast<std::int64_t>(operations);
    const bool is_parameter = from(0, 1) == 0;
    const std::int64_t defined_at = is_parameter ? -1 : static_cast<std::int64_t>(from(0, operations - 1));
    std::vector<std::int64_t> uses;
    for (std::int64_t time = defined_at + 1; time < end; ++time)
      if (from(0, 5) == 0) uses.push_back(time);
    AssignableValue value = is_parameter ? parameter(from(0, 150), uses) : made_at(defined_at, from(0, 150), uses);
    value.can_cross_programs = is_parameter && from(0, 1) == 0;
    if (!is_parameter) value.is_defined_in_hbm = from(0, 5) == 0;
    for (ValueUse& use : value.uses) use.needs_hbm = from(0, 7) == 0;
    if (from(0, 3) == 0) value.uses.push_back({end, true});
    return value;
  }
};

// Copies served one after the other, operation by operation, by the text.
bool fits_slot_by_slot(std::vector<SpaceCopy> copies, const AssignmentProblem& problem) {
  std::stable_sort(copies.begin(), copies.end(), is_served_before);
  std::vector<std::uint64_t> left;
  for (const ScheduledOperation& operation : problem.operations)
    left.push_back(elapsed_ns(operation, 0, problem.bytes_per_second));
  std::size_t at = 0;
  for (const SpaceCopy& copy : copies) {
    at = std::max(at, static_cast<std::size_t>(copy.after + 1));
    std::uint64_t needed = copy.ns;
    while (needed > 0) {
      if (static_cast<std::int64_t>(at) >= copy.before) return false;
      const std::uint64_t used = std::min(needed, left[at]);
      needed -= used;
      left[at] -= used;
      if (needed > 0) ++at;
    }
  }
  return true;
}

void check(const AssignmentProblem& problem, const Assignment& assignment) {
  const auto& residences = assignment.residences;
  std::vector<SpaceCopy> in, out;
  for (std::size_t i = 0; i < residences.size(); ++i) {
    const Residence& one = residences[i];
    const std::uint64_t bytes = problem.values[one.value].bytes;
    ASSERT_LE(one.begin, one.end);
    ASSERT_LE(one.offset + bytes, problem.capacity_bytes);
    ASSERT_EQ(one.offset % problem.alignment, 0);
    for (std::size_t j = 0; j < i; ++j) {
      const Residence& other = residences[j];
      const bool same_time = one.begin <= other.end && other.begin <= one.end;
      const bool same_bytes =
          one.offset < other.offset + problem.values[other.value].bytes && other.offset < one.offset + bytes;
      ASSERT_FALSE(same_time && same_bytes) << one.value << " over " << other.value;
    }
    if (one.in) {
      ASSERT_EQ(one.in->ns, bytes);
      ASSERT_EQ(one.in->after + 1, one.begin);
      ASSERT_LE(one.in->before, one.end);
      if (!one.is_from_last_run) in.push_back(*one.in);
    } else {
      ASSERT_EQ(one.begin, problem.values[one.value].defined_at) << "neither copied nor made here";
      ASSERT_FALSE(problem.values[one.value].is_defined_in_hbm);
    }
    if (one.out) {
      ASSERT_EQ(one.out->after, one.begin);
      ASSERT_LE(one.out->before, one.end);
      out.push_back(*one.out);
    }
  }
  ASSERT_TRUE(fits_slot_by_slot(in, problem));
  ASSERT_TRUE(fits_slot_by_slot(out, problem));
  const auto most_in_flight = [&](const std::vector<SpaceCopy>& copies) {
    std::int64_t most = 0;
    for (std::int64_t time = 0; time < static_cast<std::int64_t>(problem.operations.size()); ++time)
      most = std::max<std::int64_t>(most, std::count_if(copies.begin(), copies.end(), [&](const SpaceCopy& copy) {
                                      return copy.after < time && time < copy.before;
                                    }));
    return most;
  };
  constexpr std::uint32_t any = 1'000'000;
  ASSERT_LE(most_in_flight(in), problem.options.prefetches_max.value_or(any));
  ASSERT_LE(most_in_flight(out), problem.options.evictions_max.value_or(any));
}

// Every use finds its value where the assignment says that it is.
void check_uses(const AssignmentProblem& problem, const Assignment& assignment) {
  std::uint64_t across = 0;
  for (std::uint32_t number = 0; number < problem.values.size(); ++number) {
    const AssignableValue& value = problem.values[number];
    std::optional<std::int64_t> in_hbm_after;
    if (!assignment.is_defined_in_vmem[number]) in_hbm_after = value.defined_at;
    for (const Residence& each : assignment.residences) {
      if (each.value != number) continue;
      if (each.out) {
        ASSERT_FALSE(in_hbm_after) << "evicted to where it is";
        in_hbm_after = each.out->before;
      }
      across += each.is_from_last_run ? 1 : 0;
      ASSERT_TRUE(!each.in || (in_hbm_after && each.in->after >= *in_hbm_after)) << "copied from where it is not yet";
    }
    ASSERT_EQ(assignment.is_use_in_vmem[number].size(), value.uses.size());
    for (std::size_t i = 0; i < value.uses.size(); ++i) {
      const std::int64_t time = value.uses[i].time;
      if (assignment.is_use_in_vmem[number][i]) {
        ASSERT_FALSE(value.uses[i].needs_hbm);
        ASSERT_TRUE(std::any_of(assignment.residences.begin(), assignment.residences.end(), [&](const Residence& each) {
          return each.value == number && each.begin <= time && time <= each.end &&
                 (!each.in || each.in->before <= time);
        }));
      } else {
        ASSERT_TRUE(assignment.needs_hbm[number]);
        ASSERT_TRUE(in_hbm_after && *in_hbm_after <= time) << "read where it is not yet";
      }
    }
  }
  ASSERT_LE(across, problem.options.prefetches_across_programs ? problem.options.cross_program_prefetches_max : 0);
}

TEST(MemorySpaceAssignment, random_programs_keep_what_must_hold) {
  std::uint64_t residences = 0, prefetches = 0, evictions = 0, repacks = 0, across = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    const Trial trial(seed);
    const Assignment assignment = assign_memory_spaces(trial.problem);
    check(trial.problem, assignment);
    check_uses(trial.problem, assignment);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
    residences += assignment.residences.size();
    prefetches += assignment.prefetches;
    evictions += assignment.evictions;
    repacks += assignment.repacks;
    for (const Residence& each : assignment.residences) across += each.is_from_last_run ? 1 : 0;
  }
  // They do happen.
  EXPECT_GT(residences, 20'000);
  EXPECT_GT(prefetches, 5'000);
  EXPECT_GT(evictions, 500);
  EXPECT_GT(repacks, 1'000);
  EXPECT_GT(across, 1'000);
}

// Over many programs: a single one may also come off worse.
TEST(MemorySpaceAssignment, repacking_makes_room) {
  std::int64_t gained = 0;
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    Trial trial(seed);
    const auto served = [&](std::uint32_t repacks) {
      trial.problem.options.repacks_max = repacks;
      std::int64_t count = 0;
      for (const auto& uses : assign_memory_spaces(trial.problem).is_use_in_vmem)
        count += std::count(uses.begin(), uses.end(), true);
      return count;
    };
    gained += served(10) - served(0);
  }
  EXPECT_GT(gained, 20);
}

TEST(CopyQueue, answers_as_slots_do) {
  std::mt19937_64 random(7);
  const auto from = [&](std::uint64_t least, std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(least, most)(random);
  };
  std::uint64_t refused = 0, added = 0;
  for (int round = 0; round < 3'000; ++round) {
    AssignmentProblem problem = problem_of(1, {});
    std::vector<std::uint64_t> before = {0};
    for (std::size_t i = 0; i < from(1, 12); ++i) {
      problem.operations.push_back({from(0, 2) == 0 ? 0 : from(1, 30), 0, 0});
      before.push_back(before.back() + problem.operations.back().compute_ns);
    }
    const auto last = static_cast<std::int64_t>(problem.operations.size());
    CopyQueue queue(before, std::nullopt);
    std::vector<SpaceCopy> copies;
    for (int i = 0; i < 20; ++i) {
      if (!copies.empty() && from(0, 4) == 0) {
        const std::size_t gone = from(0, copies.size() - 1);
        queue.remove(copies[gone]);
        copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(gone));
        continue;
      }
      const auto after = static_cast<std::int64_t>(from(0, problem.operations.size())) - 1;
      const SpaceCopy copy{after, static_cast<std::int64_t>(from(static_cast<std::uint64_t>(after + 1), last)),
                           from(1, 25)};
      auto with = copies;
      with.push_back(copy);
      ASSERT_EQ(queue.has_bandwidth(copy), fits_slot_by_slot(with, problem)) << "round " << round;
      if (!fits_slot_by_slot(with, problem)) {
        ++refused;
        continue;
      }
      queue.add(copy);
      copies = with;
      ++added;
    }
  }
  EXPECT_GT(refused, 5'000);
  EXPECT_GT(added, 5'000);
}

// The intervals looked for one by one, as the text has them.
TEST(CopyIntervals, are_those_of_a_linear_search) {
  std::size_t tried = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    Trial trial(seed);
    trial.problem.options.picker = IntervalPicker::cost_analysis;
    const AssignmentProblem& problem = trial.problem;
    std::vector<std::uint64_t> before = {0};
    for (const ScheduledOperation& operation : problem.operations)
      before.push_back(before.back() + elapsed_ns(operation, 0, problem.bytes_per_second));
    const CopyIntervals intervals(problem, before);
    const auto elapsed = [&](std::int64_t after, std::int64_t until) {
      std::uint64_t sum = 0;
      for (std::int64_t i = after + 1; i < until; ++i) sum += before[i + 1] - before[i];
      return sum;
    };
    const auto use = static_cast<std::int64_t>(trial.from(1, problem.operations.size()));
    const auto earliest = static_cast<std::int64_t>(trial.from(0, static_cast<std::uint64_t>(use))) - 1;
    const std::uint64_t ns = trial.from(1, 150), saved = trial.from(0, 1) == 0 ? 0 : trial.from(1, 50);
    const std::uint64_t longest = problem.capacity_bytes * problem.options.residency_percent / 100;
    std::int64_t latest = use - 1;
    while (latest >= earliest && elapsed(latest, use) + saved < ns) --latest;
    std::int64_t first = earliest;
    while (first < latest && elapsed(first, use) > longest) ++first;
    std::vector<std::int64_t> expected;
    const auto off = [&](std::int64_t start) {
      const std::uint64_t overlap = elapsed(start, use);
      return overlap > 2 * ns ? overlap - 2 * ns : 2 * ns - overlap;
    };
    if (latest >= earliest) {
      std::int64_t nearest = first;
      for (std::int64_t start = first + 1; start <= latest; ++start)
        if (off(start) < off(nearest)) nearest = start;
      expected = {nearest};
      for (std::int64_t step = 1; nearest + step <= latest || nearest - step >= first; ++step) {
        if (nearest + step <= latest) expected.push_back(nearest + step);
        if (nearest - step >= first) expected.push_back(nearest - step);
      }
    }
    ASSERT_EQ(intervals.prefetch_starts(ns, saved, earliest, use), expected) << "seed " << seed;
    tried += expected.size();
    std::int64_t end = earliest + 1;
    while (end < use && elapsed(earliest, end) < 2 * ns) ++end;
    ASSERT_EQ(intervals.preferred_eviction_end(ns, earliest, use, 0), end) << "seed " << seed;
    ASSERT_EQ(intervals.may_stay(earliest, use), elapsed(earliest, use) < longest);
  }
  EXPECT_GT(tried, 3'000U);
}

}  // namespace
}  // namespace hbmscope::allocator::tpu
