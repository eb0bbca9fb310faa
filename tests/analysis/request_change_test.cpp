#include "analysis/whatif/scenario.h"

#include <gtest/gtest.h>

#include "analysis/diagnose/site_change.h"
#include "tests/analysis/recorded_requests.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

// "a4 b2 -a c4": requests of so many MiB, and frees, by name.
struct Program {
  explicit Program(std::string_view text) {
    std::map<char, std::uint32_t> slots;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find(' '));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      allocator::Operation operation;
      operation.is_free = word[0] == '-';
      const char name = word[operation.is_free ? 1 : 0];
      if (!operation.is_free) {
        slots[name] = requests.slots++;
        operation.request.bytes = static_cast<std::uint64_t>(std::stoul(std::string(word.substr(1)))) * mib;
      }
      operation.slot = slots[name];
      requests.operations.push_back(operation);
      names.push_back(operation.is_free ? ' ' : name);
    }
    requests.answers.resize(requests.operations.size());
  }
  std::vector<bool> chosen(std::string_view of) const {
    std::vector<bool> found;
    for (const char name : names) found.push_back(name != ' ' && of.find(name) != std::string_view::npos);
    return found;
  }
  std::uint64_t peak(const RequestChange& change) const {
    allocator::PlayOptions how;
    how.early_frees = change.early_frees;
    const auto result =
        allocator::play(change.requests ? *change.requests : requests, allocator::first_fit::Options{gib}, how);
    EXPECT_EQ(result.refused, 0U);
    return result.peak_in_use_bytes / mib;
  }

  allocator::RequestStream requests;
  std::string names;
};

TEST(RequestChange, freed_earlier_only_the_newest_blocks_are_there) {
  const Program loop("p1 a8 q1 b8 -a -q r1 c8 -b -r -c");  // x = f(x), with something small in between.
  EXPECT_EQ(loop.peak({}), 18U);
  const RequestChange change = free_before_next(loop.requests, loop.chosen("abc"));
  EXPECT_EQ(change.changed, 2U);
  EXPECT_EQ(loop.peak(change), 10U);
}

TEST(RequestChange, what_is_requested_together_is_not_freed) {
  const Program pair("a8 b8 p1 c8 d8 -a -b -c -d");
  const RequestChange change = free_before_next(pair.requests, pair.chosen("abcd"));
  EXPECT_EQ(change.changed, 2U);
  EXPECT_EQ(pair.peak(change), 17U);
  EXPECT_EQ(free_before_next(pair.requests, pair.chosen("ab")).changed, 0U);
}

TEST(RequestChange, a_donated_block_serves_the_next_request_of_its_size) {
  const Program step("a8 t4 b8 -t -a u4 c8 -u -b -c p3");
  EXPECT_EQ(step.peak({}), 20U);
  const RequestChange change = donate(step.requests, step.chosen("abc"));
  EXPECT_EQ(change.changed, 2U);
  EXPECT_EQ(step.peak(change), 12U);
  EXPECT_EQ(donate(step.requests, step.chosen("a")).changed, 1U);
  EXPECT_EQ(step.peak(donate(step.requests, step.chosen("a"))), 20U);  // b and c are still there together.
  EXPECT_EQ(donate(step.requests, step.chosen("tu")).changed, 0U);     // u comes when t is gone.
}

// The slot of a freed block is used again; the memory that was donated must not be.
TEST(RequestChange, donated_memory_keeps_a_slot_of_its_own) {
  Program program("a8 b8 -a c5 -b -c");
  program.requests.operations[3].slot = program.requests.operations[5].slot = 0;  // That of a.
  const RequestChange change = donate(program.requests, program.chosen("a"));
  EXPECT_EQ(change.changed, 1U);
  EXPECT_EQ(program.peak(change), 13U);
  allocator::PlayOptions how;
  const auto result = allocator::play(*change.requests, allocator::first_fit::Options{gib}, how);
  EXPECT_EQ(result.in_use_bytes, 0U);
}

TEST(RequestChange, a_request_that_failed_would_have_taken_what_was_there) {
  const Program program("a8 b8 -b");
  const std::uint64_t failed[] = {1};
  EXPECT_EQ(donate(program.requests, program.chosen("a")).changed, 0U);
  EXPECT_EQ(donate(program.requests, program.chosen("a"), failed).changed, 1U);
}

// A retry does not get the memory of a request that got none.
TEST(RequestChange, a_request_that_failed_has_nothing_to_donate) {
  const Program program("a8 -a b8 c2 -b -c");
  const std::uint64_t failed[] = {0};
  EXPECT_EQ(donate(program.requests, program.chosen("ab"), failed).changed, 0U);
}

TEST(RequestChange, many_blocks_of_one_size_take_no_longer_each) {
  allocator::RequestStream requests;
  allocator::Operation operation;
  operation.request.bytes = 1000;
  operation.slot = requests.slots++;
  requests.operations.push_back(operation);  // Never freed.
  for (int i = 0; i < 300'000; ++i) {
    operation.slot = requests.slots++;
    operation.is_free = false;
    requests.operations.push_back(operation);
    operation.is_free = true;
    requests.operations.push_back(operation);
  }
  EXPECT_EQ(donate(requests, std::vector<bool>(requests.operations.size(), true)).changed, 0U);
}

// In random programs: the changed one never needs more, ends with as much, and loses no block.
TEST(RequestChange, of_random_programs_nothing_is_lost) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const allocator::RequestStream requests = random_requests(seed, gib, 200);
    std::mt19937_64 random(seed);
    std::vector<bool> chosen;
    for (const allocator::Operation& operation : requests.operations)
      chosen.push_back(!operation.is_free && random() % 3 == 0);
    const auto play = [&](const RequestChange& change) {
      allocator::PlayOptions how;
      how.early_frees = change.early_frees;
      return allocator::play(change.requests ? *change.requests : requests, allocator::first_fit::Options{8 * gib},
                             how);
    };
    const auto before = play({}), donated = play(donate(requests, chosen)),
               freed = play(free_before_next(requests, chosen));
    EXPECT_LE(donated.peak_requested_bytes, before.peak_requested_bytes);
    EXPECT_EQ(donated.requested_bytes, before.requested_bytes);
    EXPECT_LE(freed.peak_requested_bytes, before.peak_requested_bytes);
    EXPECT_LE(freed.requested_bytes, before.requested_bytes);
    EXPECT_EQ(freed.allocations, before.allocations);
  }
}

TEST(SiteChange, is_of_a_line_or_a_function) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.pool("GPU_0_bfc", wire::heap_flag::has_addresses | wire::heap_flag::has_regions);
  constexpr std::uint64_t base = 0x10000000000;
  const std::uint32_t step = builder.stack("main;step"), other = builder.stack("main;other");
  builder.grow(heap, base, gib);
  builder.alloc(heap, base, 256 * mib, step);
  builder.alloc(heap, base + 256 * mib, 1 * mib, other);
  builder.alloc(heap, base + 257 * mib, 256 * mib, step);
  builder.free(heap, base);
  builder.writer.flush();
  const auto source = find_what_if_source(builder.trace, {std::nullopt, std::nullopt, 4 * gib});
  ASSERT_TRUE(source);
  for (const char* line : {"step", "step.py:7", "me/step.py:7", "/home/me/step.py:7"}) {
    for (const SiteChange change : {SiteChange::freed_earlier, SiteChange::donated}) {
      const auto scenario = find_site_change(builder.trace, *source, change, line);
      ASSERT_TRUE(scenario) << line << ": " << scenario.error().text();
      EXPECT_EQ(scenario->change.changed, 1U);
      PassControl control;
      const auto rows = run_what_if(*source, {own_scenario(source->own).value(), *scenario}, control);
      EXPECT_EQ(rows[0].result.peak_in_use_bytes, 513 * mib);
      EXPECT_EQ(rows[1].result.peak_in_use_bytes, 257 * mib) << scenario->name;
    }
  }
  for (const char* line : {"ep.py:7", "step.py:8", "nobody", "step.py", ":7", ""})
    EXPECT_FALSE(find_site_change(builder.trace, *source, SiteChange::donated, line)) << line;
  EXPECT_FALSE(find_site_change(builder.trace, *source, SiteChange::freed_earlier, "other"));
}

}  // namespace
}  // namespace hbmscope
