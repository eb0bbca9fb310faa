// Savings, compared with the slow way: leave out the blocks of a site, and take the peak of what is left.
#include "analysis/diagnose/savings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

constexpr HeapKey heap_key{0, 1};

Savings savings_of(const Trace& trace, HeapKey heap, const SavingsRequest& request = {}) {
  PassControl control;
  const auto savings = compute_savings(trace, heap, request, &control);
  EXPECT_TRUE(savings.has_value());
  EXPECT_LE(control.done_events, control.total_events);
  return savings.value_or(Savings{});
}
const SiteSaving& row_of(const Savings& savings, const std::string& name) {
  for (const SiteSaving& row : savings.sites)
    if (row.site.function == name || row.site.name == name) return row;
  ADD_FAILURE() << "no site " << name;
  static const SiteSaving none;
  return none;
}

TEST(Savings, the_line_that_holds_the_most_at_the_peak_saves_nothing) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("pool", wire::heap_flag::has_addresses);
  const std::uint32_t weights = builder.stack("main;weights"), forward = builder.stack("main;forward"),
                      step = builder.stack("main;step");
  builder.alloc(heap, 0x1000, 0x100, weights);
  builder.alloc(heap, 0x10000, 0x900, forward);  // The peak: 0xa00.
  builder.free(heap, 0x10000);
  builder.alloc(heap, 0x20000, 0x900, step);  // As high, from another line.
  builder.free(heap, 0x20000);
  builder.states_at();
  const Savings savings = savings_of(builder.trace, heap_key);
  EXPECT_EQ(savings.peak, (UsePoint{0xa00, 2, 3000}));
  EXPECT_FALSE(savings.is_inexact);
  ASSERT_EQ(savings.sites.size(), 3U);
  EXPECT_EQ(savings.sites[0].site.function, "weights");
  EXPECT_EQ(savings.sites[0].site.file, "/home/me/weights.py");
  EXPECT_EQ(savings.sites[0].site.line, 7U);
  EXPECT_EQ(savings.sites[0].saves_bytes, 0x100U);
  EXPECT_EQ(savings.sites[0].next_peak, (UsePoint{0x900, 2, 3000}));
  EXPECT_EQ(savings.sites[1].site.function, "forward");
  EXPECT_EQ(savings.sites[1].bytes_at_peak, 0x900U);
  EXPECT_EQ(savings.sites[1].saves_bytes, 0U);
  EXPECT_EQ(savings.sites[1].next_peak, (UsePoint{0xa00, 4, 5000}));
  EXPECT_EQ(savings.sites[2].site.function, "step");
  EXPECT_EQ(savings.sites[2].bytes_at_peak, 0U);
  EXPECT_EQ(savings.sites[2].saves_bytes, 0U);
  EXPECT_EQ(savings.sites[2].next_peak, savings.peak);
}

TEST(Savings, blocks_without_a_stack_and_handles_are_sites_too) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("driver", wire::heap_flag::has_addresses);
  const std::uint32_t pool = builder.stack("main;pool");
  builder.live(heap, 0x1000, 0x300);
  builder.create(heap, 1, 0x500, pool);
  builder.release(1);
  builder.create(heap, 2, 0x200, pool);
  builder.states_at();
  const Savings savings = savings_of(builder.trace, heap_key);
  EXPECT_EQ(savings.peak.in_use_bytes, 0x800U);
  EXPECT_EQ(row_of(savings, "pool").saves_bytes, 0x500U);
  EXPECT_EQ(row_of(savings, "pool").next_peak, (UsePoint{0x300, 0, 0}));
  const SiteSaving& unknown = row_of(savings, "(no stack was recorded)");
  EXPECT_FALSE(unknown.site.can_change);
  EXPECT_EQ(unknown.saves_bytes, 0x300U);
  EXPECT_EQ(unknown.next_peak.position, 1U);
}

TEST(Savings, tags_categories_and_functions_are_sites_too) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("pool", wire::heap_flag::has_addresses);
  wire::AllocRecord block;
  block.heap = heap;
  for (const auto& [tag, line, size] : {std::tuple("matmul", 1U, 0x100U), {"matmul", 2U, 0x200U}, {"", 2U, 0x400U}}) {
    block.address += 0x1000;
    block.size = size;
    block.tag = builder.writer.define_string(tag);
    block.stack = builder.writer.define_stack(0, builder.writer.define_frame("step", "/home/me/train.py", line));
    builder.writer.alloc(block, builder.time_ns += 1000);
  }
  builder.states_at();
  const Savings tags = savings_of(builder.trace, heap_key, {SiteBy::tag, {}});
  ASSERT_EQ(tags.sites.size(), 2U);
  EXPECT_EQ(row_of(tags, "matmul").saves_bytes, 0x300U);
  EXPECT_EQ(row_of(tags, "(untagged)").saves_bytes, 0x400U);
  const Savings functions = savings_of(builder.trace, heap_key, {SiteBy::function, {}});
  ASSERT_EQ(functions.sites.size(), 1U);
  EXPECT_EQ(functions.sites[0].saves_bytes, 0x700U);
  EXPECT_EQ(functions.sites[0].site.line, 0U);
  EXPECT_EQ(savings_of(builder.trace, heap_key, {SiteBy::line, {}}).sites.size(), 2U);
  const Savings categories = savings_of(builder.trace, heap_key, {SiteBy::category, {}});
  ASSERT_EQ(categories.sites.size(), 1U);
  EXPECT_EQ(categories.sites[0].site.name, "other");
}

TEST(Savings, of_a_heap_that_never_held_anything_there_are_none) {
  TraceBuilder builder;
  builder.heap("pool", wire::heap_flag::has_addresses);
  builder.states_at();
  const Savings savings = savings_of(builder.trace, heap_key, {SiteBy::line, 1});
  EXPECT_EQ(savings.peak, UsePoint{});
  EXPECT_TRUE(savings.sites.empty());
  EXPECT_FALSE(savings.set);
  EXPECT_TRUE(savings_of(builder.trace, {0, 7}).sites.empty());
}

TEST(Savings, a_cancelled_pass_has_no_result) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("pool", wire::heap_flag::has_addresses);
  builder.alloc(heap, 0x1000, 0x100);
  builder.states_at();
  PassControl control;
  control.cancelled = true;
  EXPECT_FALSE(compute_savings(builder.trace, heap_key, {}, &control));
}

// A random program: what happens, by site. It can be written without some of its sites; markers then take the places of
// their events, so that all others keep their numbers.
class RandomProgram {
 public:
  static constexpr std::uint32_t sites = 5;  // 0: without a stack.

  explicit RandomProgram(unsigned seed) : random_(seed), has_losses_(seed % 10 == 0) {
    for (std::size_t i = pick(4); i > 0; --i) steps_.push_back(block_step(Step::What::live));
    for (std::size_t i = 5 + pick(40); i > 0; --i) steps_.push_back(next_step());
  }

  static std::string name_of(std::uint32_t site) {
    return site == 0 ? "(no stack was recorded)" : "site" + std::to_string(site);
  }

  // `without`: a bit for each site that is left out.
  void write(TraceBuilder& builder, unsigned without) const {
    const std::uint32_t heap = builder.heap("pool", wire::heap_flag::has_addresses);
    const std::uint32_t other = builder.heap("other", wire::heap_flag::has_addresses);
    std::vector<std::array<std::uint32_t, 2>> stacks{{0, 0}};
    for (std::uint32_t site = 1; site < sites; ++site)
      stacks.push_back({builder.stack("main;" + name_of(site)), builder.stack("main;again;" + name_of(site))});
    std::map<std::uint64_t, Step> live;  // By address.
    for (const Step& step : steps_) {
      builder.time_ns += 1000;
      const bool is_left_out = (without >> step.site & 1) != 0;
      const std::uint32_t stack = stacks[step.site][step.address / slot % 2];
      switch (step.what) {
        case Step::What::live:
          if (!is_left_out) builder.live(heap, step.address, step.size, stack);
          break;
        case Step::What::allocated:
          if (is_left_out)
            mark(builder);
          else
            builder.writer.alloc(record_of(step, heap, stack), builder.time_ns);
          break;
        case Step::What::freed:
          if (is_left_out)
            mark(builder);
          else
            builder.writer.free(heap, step.address, 0, 0, builder.time_ns);
          break;
        case Step::What::moved:
          if (is_left_out)
            mark(builder);
          else
            builder.writer.move(heap, step.address, step.to, builder.time_ns);
          break;
        case Step::What::freed_unknown: builder.writer.free(heap, step.address + 1, 0, 0, builder.time_ns); break;
        case Step::What::elsewhere: builder.writer.alloc(record_of(step, other, stack), builder.time_ns); break;
        case Step::What::gone: builder.writer.drop_heap({heap}, builder.time_ns); break;
        case Step::What::lost: builder.writer.note_loss(1, builder.time_ns - 10, builder.time_ns, heap); break;
        case Step::What::listed: {
          std::vector<wire::LiveRecord> rows;
          for (const auto& [address, block] : step.listed) {
            if ((without >> block.first & 1) != 0) continue;
            wire::LiveRecord& row = rows.emplace_back();
            row.address = address;
            row.size = row.requested = block.second;
            row.stack = stacks[block.first][address / slot % 2];
          }
          builder.writer.list_heap(heap, {}, rows, builder.time_ns);
          break;
        }
      }
      if (step.ends_block) builder.writer.flush();
    }
    builder.writer.flush();
  }
  HeapPeak peak_without(unsigned without) const {
    TraceBuilder builder;
    write(builder, without);
    return builder.trace.streams.front().peak(heap_key.heap);
  }
  bool has_losses() const { return has_losses_; }
  // The same without a trace, ten times as fast. For programs without losses.
  HeapPeak added_up_without(unsigned without) const {
    HeapPeak peak;
    Blocks live;
    std::uint64_t events = 0, in_use = 0;
    for (const Step& step : steps_) {
      const bool is_left_out = (without >> step.site & 1) != 0;
      events += step.what == Step::What::live || step.what == Step::What::listed ? 0 : 1;
      if (step.what == Step::What::gone) live.clear();
      if (step.what == Step::What::listed) {
        live = step.listed;
        std::erase_if(live, [&](const auto& block) { return (without >> block.second.first & 1) != 0; });
      }
      if (step.what == Step::What::live || step.what == Step::What::allocated)
        if (!is_left_out) live[step.address] = {step.site, step.size};
      if (step.what == Step::What::freed) live.erase(step.address);
      if (step.what == Step::What::moved && !is_left_out) {
        live[step.to] = live.at(step.address);
        live.erase(step.address);
      }
      in_use = 0;
      for (const auto& [address, block] : live) in_use += block.second;
      if (in_use > peak.in_use_bytes) peak = {in_use, events};
    }
    return peak;
  }

 private:
  static constexpr std::uint64_t slot = 0x10000;
  using Blocks = std::map<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>>;  // By address: site and size.

  struct Step {
    enum class What { live, allocated, freed, moved, freed_unknown, elsewhere, gone, lost, listed };
    What what = What::live;
    std::uint32_t site = 0;
    std::uint64_t address = 0, size = 0, to = 0;
    Blocks listed;
    bool ends_block = false;
  };

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  std::uint64_t free_address() {
    std::uint64_t address = 0;
    do address = slot * (1 + pick(60));
    while (live_.contains(address));
    return address;
  }
  Step block_step(Step::What what) {
    Step step;
    step.what = what;
    step.site = static_cast<std::uint32_t>(pick(sites));
    step.address = free_address();
    step.size = 256 * (1 + pick(8));
    live_[step.address] = {step.site, step.size};
    return step;
  }
  Step next_step() {
    Step step;
    const std::uint64_t what = pick(100);
    if (what < 48 || live_.empty()) {
      step = block_step(Step::What::allocated);
    } else if (what < 84) {
      auto at = live_.begin();
      std::advance(at, pick(live_.size()));
      step.what = what < 78 ? Step::What::freed : Step::What::moved;
      step.address = at->first;
      step.site = at->second.first;
      if (step.what == Step::What::moved) {
        step.to = free_address();
        live_[step.to] = at->second;
      }
      live_.erase(step.address);
    } else if (what < 87) {
      step.what = Step::What::freed_unknown;
    } else if (what < 91) {
      step.what = Step::What::elsewhere;
      step.address = 0x100000000 + slot * ++others_;
      step.size = 4096;
    } else if (what < 94) {
      step.what = Step::What::gone;
      live_.clear();
    } else if (what < 96 && has_losses_) {
      step.what = Step::What::lost;
    } else {
      step.what = Step::What::listed;
      std::erase_if(live_, [&](const auto&) { return pick(4) == 0; });
      if (pick(2) == 0) live_[free_address()] = {static_cast<std::uint32_t>(pick(sites)), 512};
      step.listed = live_;
    }
    step.ends_block = pick(6) == 0;
    return step;
  }

  static void mark(TraceBuilder& builder) { builder.writer.add(wire::MarkerRecord{}, builder.time_ns); }
  static wire::AllocRecord record_of(const Step& step, std::uint32_t heap, std::uint32_t stack) {
    wire::AllocRecord record;
    record.heap = heap;
    record.address = step.address;
    record.size = record.requested = step.size;
    record.stack = stack;
    return record;
  }

  std::mt19937 random_;
  bool has_losses_;
  std::uint64_t others_ = 0;
  std::vector<Step> steps_;
  Blocks live_;
};

TEST(Savings, are_those_of_the_program_without_the_site_on_random_programs) {
  std::size_t compared = 0, saved_nothing = 0;
  for (unsigned seed = 1; seed <= 10'000; ++seed) {
    SCOPED_TRACE(seed);
    const RandomProgram program(seed);
    TraceBuilder builder;
    program.write(builder, 0);
    const Savings savings = savings_of(builder.trace, heap_key);
    const HeapPeak peak = builder.trace.streams.front().peak(heap_key.heap);
    ASSERT_EQ(savings.peak.in_use_bytes, peak.in_use_bytes);
    ASSERT_EQ(savings.peak.position, peak.position);
    ASSERT_EQ(savings.is_inexact, peak.is_inexact);
    for (std::uint32_t site = 0; site < RandomProgram::sites; ++site) {
      const bool needs_trace = program.has_losses() || seed <= 500;
      const HeapPeak expected = needs_trace ? program.peak_without(1U << site) : program.added_up_without(1U << site);
      const auto row = std::find_if(savings.sites.begin(), savings.sites.end(), [&](const SiteSaving& one) {
        return one.site.function == program.name_of(site) || one.site.name == program.name_of(site);
      });
      if (row == savings.sites.end()) {
        ASSERT_EQ(expected.in_use_bytes, peak.in_use_bytes);
        continue;
      }
      ++compared;
      saved_nothing += row->saves_bytes == 0 ? 1 : 0;
      ASSERT_EQ(row->next_peak.in_use_bytes, expected.in_use_bytes) << site;
      ASSERT_EQ(row->next_peak.position, expected.position) << site;
      ASSERT_EQ(row->saves_bytes, peak.in_use_bytes - expected.in_use_bytes);
      ASSERT_LE(row->saves_bytes, row->bytes_at_peak);
      if (expected.position > 0 && needs_trace) {
        ASSERT_EQ(row->next_peak.time_ns, expected.time_ns);
      }
    }
    std::uint64_t at_peak = 0;
    for (const SiteSaving& row : savings.sites) at_peak += row.bytes_at_peak;
    ASSERT_EQ(at_peak, peak.in_use_bytes);
  }
  RecordProperty("compared", static_cast<int>(compared));
  RecordProperty("saved_nothing", static_cast<int>(saved_nothing));
  EXPECT_GT(compared, 30'000U);
  EXPECT_GT(saved_nothing, 1'000U);
}

// The fewest sites with a line, then the least at the peak, by trying all sets.
TEST(SavingsSet, is_the_smallest_of_all_sets_on_random_programs) {
  std::map<std::size_t, int> sizes;
  for (unsigned seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    const RandomProgram program(seed);
    TraceBuilder builder;
    program.write(builder, 0);
    const Stream& stream = builder.trace.streams.front();
    const std::uint64_t peak = stream.peak(heap_key.heap).in_use_bytes;
    if (peak == 0) continue;
    const std::uint64_t wanted = 1 + peak * (1 + seed % 9) / 10;
    const Savings savings = savings_of(builder.trace, heap_key, {SiteBy::line, wanted});
    std::map<std::string, std::uint64_t> at_peak;
    for (const SiteSaving& row : savings.sites) at_peak[row.site.function] += row.bytes_at_peak;
    std::pair<int, std::uint64_t> best{100, 0};
    std::uint64_t most_saved = 0;
    for (unsigned without = 2; without < 1U << RandomProgram::sites; without += 2) {
      const std::uint64_t saved = peak - program.peak_without(without).in_use_bytes;
      most_saved = std::max(most_saved, saved);
      if (saved < wanted) continue;
      std::pair<int, std::uint64_t> size{__builtin_popcount(without), 0};
      for (std::uint32_t site = 1; site < RandomProgram::sites; ++site)
        if ((without >> site & 1) != 0) size.second += at_peak[program.name_of(site)];
      best = std::min(best, size);
    }
    ASSERT_TRUE(savings.set);
    const SavingsSet& set = *savings.set;
    ASSERT_EQ(set.is_reached, best.first < 100);
    ASSERT_EQ(set.saves_bytes, peak - set.next_peak.in_use_bytes);
    if (!set.is_reached) {
      ASSERT_EQ(set.saves_bytes, most_saved);
      ASSERT_TRUE(set.sites.empty());
      continue;
    }
    ASSERT_TRUE(set.is_smallest);
    std::pair<int, std::uint64_t> size;
    unsigned without = 0;
    for (const SiteSaving& row : set.sites) {
      size = {size.first + 1, size.second + row.bytes_at_peak};
      without |= 1U << std::stoul(row.site.function.substr(4));
    }
    ++sizes[set.sites.size()];
    ASSERT_EQ(size, best);
    const HeapPeak next = program.peak_without(without);
    ASSERT_EQ(set.next_peak.in_use_bytes, next.in_use_bytes);
    ASSERT_EQ(set.next_peak.position, next.position);
    ASSERT_GE(set.saves_bytes, wanted);
  }
  EXPECT_GT(sizes[1], 50);
  EXPECT_GT(sizes[2], 50);
  EXPECT_GT(sizes[3], 10);
}

// 300 lines with random sizes, live at random times: too many for a complete search.
TEST(SavingsSet, of_many_lines_lowers_the_peak_even_if_it_may_not_be_the_smallest) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("pool", wire::heap_flag::has_addresses);
  std::vector<std::uint32_t> stacks;
  for (int line = 0; line < 300; ++line) stacks.push_back(builder.stack("main;line" + std::to_string(line)));
  std::mt19937 random(7);
  std::set<std::uint64_t> live;
  for (int i = 0; i < 4000; ++i) {
    const std::uint64_t address = 0x100000 * (1 + random() % 400);
    if (live.erase(address) > 0) {
      builder.free(heap, address);
      continue;
    }
    live.insert(address);
    builder.alloc(heap, address, 0x1000 + random() % 0xf0000, stacks[random() % stacks.size()]);
  }
  builder.states_at();
  const std::uint64_t peak = builder.trace.streams.front().peak(heap).in_use_bytes;
  const SavingsSet set = savings_of(builder.trace, heap_key, {SiteBy::line, peak / 2}).set.value();
  EXPECT_TRUE(set.is_reached);
  EXPECT_FALSE(set.is_smallest);
  EXPECT_GE(set.saves_bytes, peak / 2);
  EXPECT_LT(set.sites.size(), 150U);
  EXPECT_EQ(set.next_peak.in_use_bytes, peak - set.saves_bytes);
}

}  // namespace
}  // namespace hbmscope
