#include "analysis/heap/address_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/heap/address_space_builder.h"
#include "tests/analysis/address_space_trial.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

// "0+4 4-8": a block of 4 bytes at 0, then 4 free bytes up to 8.
std::string layout(const AddressSpace& space) {
  std::string text;
  space.for_each_chunk([&](const HeapChunk& chunk) {
    if (!text.empty()) text += ' ';
    text += std::to_string(chunk.range.begin) + (chunk.state == ChunkState::block ? '+' : '-') +
            std::to_string(chunk.range.end);
  });
  return text;
}

TEST(AddressSpace, block_at_the_lower_end_leaves_the_rest_free) {
  AddressSpace space;
  space.add_region({100, 200}, Joining::never);
  const BlockIndex block = space.take(100, 30);
  EXPECT_EQ(layout(space), "100+130 130-200");
  EXPECT_EQ(space.in_use_bytes(), 30U);
  EXPECT_EQ(space.region_bytes(), 100U);
  EXPECT_EQ(space.free_bytes(), 70U);
  EXPECT_EQ(space.largest_free(), 70U);
  space.give_back(block);
  EXPECT_EQ(layout(space), "100-200");
  EXPECT_EQ(space.problems(), AddressProblems{});
}

TEST(AddressSpace, block_inside_leaves_both_ends_free) {
  AddressSpace space;
  space.add_region({100, 200}, Joining::never);
  const BlockIndex middle = space.take(140, 20);
  space.take(190, 10);
  EXPECT_EQ(layout(space), "100-140 140+160 160-190 190+200");
  EXPECT_EQ(space.largest_free(), 40U);
  space.give_back(middle);
  EXPECT_EQ(layout(space), "100-190 190+200");
  EXPECT_EQ(space.problems(), AddressProblems{});
}

TEST(AddressSpace, nothing_free_is_a_largest_of_0_and_not_unknown) {
  AddressSpace space;
  EXPECT_EQ(space.largest_free(), 0U);
  space.add_region({0, 10}, Joining::never);
  space.take(0, 10);
  EXPECT_EQ(space.largest_free(), 0U);
  EXPECT_EQ(space.free_bytes(), 0U);
}

TEST(AddressSpace, free_space_does_not_cross_the_border_of_separate_regions) {
  AddressSpace space;
  space.add_region({0, 10}, Joining::never);
  space.add_region({10, 20}, Joining::never);
  space.add_region({20, 30}, Joining::with_neighbours);
  EXPECT_EQ(layout(space), "0-10 10-20 20-30");
  EXPECT_EQ(space.largest_free(), 10U);
  space.take(5, 10);
  EXPECT_EQ(space.problems().outside, 1U);
  EXPECT_EQ(layout(space), "0-10 10-20 20-30");
}

TEST(AddressSpace, joining_regions_hold_blocks_over_their_borders) {
  AddressSpace space;
  space.add_region({0, 10}, Joining::with_neighbours);
  space.add_region({20, 30}, Joining::with_neighbours);
  EXPECT_EQ(space.regions(), 2U);
  space.add_region({10, 20}, Joining::with_neighbours);
  EXPECT_EQ(space.regions(), 1U);
  EXPECT_EQ(space.largest_free(), 30U);
  space.take(0, 25);
  EXPECT_EQ(layout(space), "0+25 25-30");
  space.add_region({30, 40}, Joining::with_neighbours);
  EXPECT_EQ(layout(space), "0+25 25-40");
}

TEST(AddressSpace, pages_unmapped_from_the_middle_leave_two_regions) {
  AddressSpace space;
  space.add_region({0, 40}, Joining::with_neighbours);
  space.take(0, 5);
  space.remove_region({10, 20});
  EXPECT_EQ(layout(space), "0+5 5-10 20-40");
  EXPECT_EQ(space.regions(), 2U);
  EXPECT_EQ(space.region_bytes(), 30U);
  EXPECT_EQ(space.problems(), AddressProblems{});
}

TEST(AddressSpace, blocks_of_a_removed_region_stay_live) {
  AddressSpace space;
  space.add_region({0, 40}, Joining::never);
  const BlockIndex inside = space.take(15, 5), across = space.take(5, 10);
  space.remove_region({10, 30});
  EXPECT_EQ(layout(space), "0-10 30-40");
  EXPECT_EQ(space.in_use_bytes(), 15U);
  EXPECT_EQ(space.problems().blocks_removed, 2U);
  EXPECT_EQ(space.loose_blocks(), (std::vector{across, inside}));
  EXPECT_EQ(space.range_of(across), (AddressRange{5, 15}));
  space.give_back(across);
  space.give_back(inside);
  EXPECT_EQ(layout(space), "0-10 30-40");
  EXPECT_EQ(space.blocks(), 0U);
}

TEST(AddressSpace, overlapping_block_is_counted_and_kept) {
  AddressSpace space;
  space.add_region({0, 40}, Joining::never);
  space.take(10, 10);
  const BlockIndex over = space.take(15, 10);
  EXPECT_EQ(space.problems().overlaps, 1U);
  EXPECT_TRUE(space.is_loose(over));
  EXPECT_EQ(space.in_use_bytes(), 20U);
  EXPECT_EQ(space.blocks(), 2U);
  space.give_back(over);
  EXPECT_EQ(layout(space), "0-10 10+20 20-40");
}

TEST(AddressSpace, impossible_sizes_are_live_with_0_bytes) {
  AddressSpace space;
  space.take(~std::uint64_t{0}, 2);
  space.take(0, ~std::uint64_t{0});
  const BlockIndex zero = space.take(0, 0);
  EXPECT_EQ(space.problems().impossible_sizes, 2U);
  EXPECT_EQ(space.problems().zero_sizes, 1U);
  EXPECT_EQ(space.blocks(), 3U);
  EXPECT_EQ(space.in_use_bytes(), 0U);
  space.give_back(zero);
  space.give_back(zero);
  EXPECT_EQ(space.problems().unknown_blocks, 1U);
  EXPECT_EQ(space.blocks(), 2U);
}

TEST(AddressSpace, bytes_in_use_never_leave_63_bits) {
  AddressSpace space;
  for (int i = 0; i < 20; ++i) space.take(0, std::uint64_t{1} << 62);
  EXPECT_EQ(space.in_use_bytes(), std::uint64_t{1} << 62);
  EXPECT_EQ(space.problems().impossible_sizes, 19U);
}

TEST(AddressSpace, without_regions_what_is_free_is_unknown) {
  AddressSpace space(RegionsAre::unknown);
  space.take(100, 10);
  EXPECT_EQ(space.in_use_bytes(), 10U);
  EXPECT_EQ(space.largest_free(), std::nullopt);
  EXPECT_EQ(space.free_bytes(), std::nullopt);
  EXPECT_EQ(space.region_bytes(), std::nullopt);
  EXPECT_EQ(space.problems(), AddressProblems{});
  EXPECT_EQ(space.find(100), std::nullopt);
  space.add_region({0, 50}, Joining::never);
  EXPECT_EQ(space.largest_free(), 50U);
}

TEST(AddressSpace, cleared_is_as_new) {
  AddressSpace space;
  space.add_region({0, 10 * mib}, Joining::never);
  for (std::uint64_t i = 0; i < 1000; ++i) space.take(i * 10 * kib, 5 * kib);
  space.clear(RegionsAre::reported);
  EXPECT_EQ(space.blocks(), 0U);
  EXPECT_EQ(space.largest_free(), 0U);
  EXPECT_EQ(space.regions(), 0U);
  space.add_region({0, 10}, Joining::never);
  space.take(5, 5);
  EXPECT_EQ(layout(space), "0-5 5+10");
}

TEST(AddressSpace, ordered_index_that_was_given_up_is_made_again) {
  AddressSpace space;
  space.add_region({0, mib}, Joining::never);
  const BlockIndex inside = space.take(500, 10);
  for (int i = 0; i < 10'000; ++i) space.give_back(space.take(0, 10));
  space.take(700, 10);
  space.give_back(inside);
  EXPECT_EQ(layout(space), "0-700 700+710 710-1048576");
  EXPECT_EQ(space.problems(), AddressProblems{});
}

void run_trial(AddressSpaceTrial trial, std::uint64_t seed, int events) {
  std::mt19937_64 random(seed);
  const AddressSpaceTrial::Draw draw = [&](std::uint64_t n) { return random() % n; };
  // Now and then a copy diverges, and each of the two is compared with its own history.
  AddressSpaceTrial other = trial;
  for (int event = 0; event < events; ++event) {
    if (event % 400 == 200) other = trial;
    if (event % 400 == 300) std::swap(trial, other);
    trial.step(draw);
    std::string difference = trial.difference_of_figures();
    if (event % 80 == 0) difference += trial.difference_of_layout();
    ASSERT_EQ(difference, "") << "seed " << seed << ", event " << event;
  }
  ASSERT_EQ(trial.difference_of_layout(), "") << "seed " << seed;
  ASSERT_EQ(other.difference_of_figures() + other.difference_of_layout(), "") << "the copy, seed " << seed;
}

TEST(AddressSpaceAndNaive, all_kinds_of_events) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    AddressSpaceTrial::Kinds kinds;
    kinds.blocks_max = seed % 10 == 0 ? 60 : 4 + seed % 20;
    run_trial(AddressSpaceTrial(kinds), seed, 2000);
    if (HasFatalFailure()) return;
  }
}

TEST(AddressSpaceAndNaive, blocks_at_the_lower_end_only) {
  for (std::uint64_t seed = 100; seed < 150; ++seed) {
    AddressSpaceTrial::Kinds kinds;
    kinds.upper_end = kinds.aligned = kinds.dirty = false;
    kinds.regions = seed % 2 == 0;
    run_trial(AddressSpaceTrial(kinds), seed, 2000);
    if (HasFatalFailure()) return;
  }
}

TEST(AddressSpaceAndNaive, at_both_ends_of_the_address_space) {
  for (std::uint64_t seed = 150; seed < 210; ++seed) {
    AddressSpaceTrial::Kinds kinds;
    kinds.base = seed % 2 == 0 ? 0 : ~std::uint64_t{0} - 200'000;
    kinds.blocks_max = 16;
    run_trial(AddressSpaceTrial(kinds), seed, 2000);
    if (HasFatalFailure()) return;
  }
}

TEST(AddressTable, even_steps_of_any_size_do_not_cluster) {
  // Among 10,000 random addresses in a table six times as large, the most displaced one is a few places from its home.
  for (std::uint64_t factor : {1, 3, 5, 10, 27, 1000}) {
    for (unsigned shift = 0; shift < 44; shift += factor == 1 ? 1 : 7) {
      AddressTable table;
      const std::uint64_t step = factor << shift;
      for (std::uint32_t i = 0; i < 10'000; ++i) table.insert(0x7f0000000000 + i * step, i);
      EXPECT_LT(table.distance_max(), 30U) << "steps of " << step;
    }
  }
}

TEST(AddressTable, what_is_erased_is_gone_and_the_rest_is_found) {
  AddressTable table;
  std::map<std::uint64_t, std::uint32_t> naive;
  std::mt19937_64 random(7);
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const std::uint64_t address = random() % 1500 * 512;
    if (naive.erase(address) > 0) {
      table.erase_at(table.find(address));
    } else {
      naive[address] = i;
      table.insert(address, i);
    }
    const std::uint64_t requested = random() % 1500 * 512;
    const auto found = naive.find(requested);
    ASSERT_EQ(table.value(table.find(requested)), found == naive.end() ? AddressTable::none : found->second);
  }
  EXPECT_EQ(table.size(), naive.size());
}

TEST(LargestOfMany, is_the_largest_after_every_change) {
  LargestOfMany largest;
  std::map<std::uint32_t, std::uint64_t> naive;
  std::mt19937_64 random(8);
  for (int i = 0; i < 5'000; ++i) {
    const std::uint64_t value = 1 + random() % 300;
    const auto some = naive.empty() ? naive.end() : std::next(naive.begin(), static_cast<int>(random() % naive.size()));
    if (naive.empty() || random() % 2 == 0) {
      const std::uint32_t place = largest.add(value);
      ASSERT_TRUE(naive.emplace(place, value).second);
    } else if (random() % 2 == 0) {
      largest.set(some->first, value);
      some->second = value;
    } else {
      largest.remove(some->first);
      naive.erase(some);
    }
    std::uint64_t expected = 0;
    for (const auto& [place, each] : naive) expected = std::max(expected, each);
    ASSERT_EQ(largest.largest(), expected);
    ASSERT_EQ(largest.count(), naive.size());
  }
}

TEST(LargestOfMany, numbers_that_come_together_are_as_one_by_one) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 200; ++i) {
    LargestOfMany together, single;
    for (std::size_t round = 0; round < 3; ++round) {
      std::vector<std::uint64_t> values(random() % 200);
      for (std::uint64_t& value : values) value = 1 + random() % 300;
      const std::uint32_t first = together.first_new_place();
      together.append(values);
      for (const std::uint64_t value : values) single.add(value);
      ASSERT_EQ(together.largest(), single.largest());
      ASSERT_EQ(together.count(), single.count());
      for (std::size_t at = 0; at < values.size(); at += 2) {  // The next round reuses other places.
        const std::uint64_t value = random() % 300;
        together.set(first + static_cast<std::uint32_t>(at), value);
        single.set(first + static_cast<std::uint32_t>(at), value);
        ASSERT_EQ(together.largest(), single.largest());
      }
    }
  }
}

// Regions of some pages, apart or side by side, full ones and empty ones; blocks that overlap are loose.
TEST(AddressSpaceBuilder, a_space_built_from_a_list_is_as_the_one_that_was_listed) {
  constexpr std::uint64_t page = 512;
  std::mt19937_64 random(13);
  for (int seed = 0; seed < 60; ++seed) {
    AddressSpace listed, built;
    const std::uint64_t region_pages = 1 + random() % (seed % 3 == 0 ? 400 : 9), few = 1 + random() % 4;
    for (std::uint64_t begin = 0; begin < 600; begin += region_pages + (random() % 2)) {
      const AddressRange region{begin * page, (begin + region_pages) * page};
      const Joining joining = random() % 3 == 0 ? Joining::with_neighbours : Joining::never;
      listed.add_region(region, joining);
      built.add_region(region, joining);
    }
    std::map<std::pair<bool, std::uint64_t>, std::vector<BlockIndex>> live;  // By loose or not, and address.
    for (int i = 0; i < 400; ++i) {
      const BlockIndex taken = listed.take(random() % 620 * page, random() % few * page);
      live[{listed.is_loose(taken), listed.range_of(taken).begin}].push_back(taken);
    }
    std::vector<std::pair<BlockIndex, BlockIndex>> both;
    {
      AddressSpaceBuilder builder(built, listed.blocks(), listed.free_chunks());
      std::vector<AddressSpaceBuilder::Block> blocks;
      for (const auto& [key, same_place] : live)
        for (const BlockIndex block : same_place) {
          const AddressRange range = listed.range_of(block);
          if (key.first)
            both.emplace_back(block, built.take_loose(range.begin, range.size()));
          else
            blocks.push_back({range.begin, range.size(), block});
        }
      for (std::span<AddressSpaceBuilder::Block> rest(blocks); !rest.empty();) {
        const std::span<AddressSpaceBuilder::Block> some =
            rest.first(std::min<std::size_t>(rest.size(), random() % 150));
        std::vector<BlockIndex> before;
        for (const AddressSpaceBuilder::Block& block : some) before.push_back(block.place);
        builder.append(some);
        for (std::size_t i = 0; i < some.size(); ++i) both.emplace_back(before[i], some[i].place);
        rest = rest.subspan(some.size());
      }
    }
    const auto chunks = [](const AddressSpace& space) {
      std::vector<std::tuple<std::uint64_t, std::uint64_t, ChunkState>> result;
      space.for_each_chunk(
          [&](const HeapChunk& chunk) { result.emplace_back(chunk.range.begin, chunk.range.end, chunk.state); });
      return result;
    };
    const auto figures = [](const AddressSpace& space) {
      return std::tuple(space.in_use_bytes(), space.blocks(), space.free_bytes(), space.largest_free(),
                        space.free_chunks(), space.loose_blocks().size());
    };
    ASSERT_EQ(chunks(listed), chunks(built)) << seed;
    ASSERT_EQ(figures(listed), figures(built)) << seed;
    // Both continue in the same way, in any order.
    std::shuffle(both.begin(), both.end(), random);
    for (const auto& [one, other] : both) {
      ASSERT_EQ(listed.range_of(one), built.range_of(other)) << seed;
      ASSERT_EQ(listed.is_loose(one), built.is_loose(other)) << seed;
      listed.give_back(one);
      built.give_back(other);
      ASSERT_EQ(figures(listed), figures(built)) << seed;
    }
    ASSERT_EQ(chunks(listed), chunks(built)) << seed;
  }
}

TEST(OrderedAddresses, answers_as_a_map_does) {
  OrderedAddresses ordered;
  std::map<std::uint64_t, std::uint32_t> naive;
  std::mt19937_64 random(9);
  const auto same = [](const std::optional<OrderedAddresses::Entry>& entry, auto expected, auto end) {
    if (!entry) return expected == end;
    return expected != end && entry->address == expected->first && entry->value == expected->second;
  };
  for (std::uint32_t i = 0; i < 30'000; ++i) {
    // It grows, then shrinks, so that pages are split and go.
    const std::uint64_t address = 1 + random() % 20'000;
    const auto there = naive.lower_bound(address);
    if (there == naive.end() || (there->first != address && i % 20'000 < 10'000)) {
      naive[address] = i;
      ordered.insert(address, i);
    } else if (random() % 3 == 0) {
      const std::uint64_t low = there == naive.begin() ? 0 : std::prev(there)->first + 1;
      const std::uint64_t high = std::next(there) == naive.end() ? there->first + 5 : std::next(there)->first - 1;
      const std::uint64_t to = low + random() % (high - low + 1);
      const auto [from, value] = *there;
      naive.erase(there);
      naive[to] = value;
      ordered.rename(from, to);
    } else if (random() % 4 == 0) {
      there->second = i;
      ordered.set(there->first, i);
    } else {
      ordered.erase(there->first);
      naive.erase(there);
    }
    const std::uint64_t requested = random() % 20'002;
    const auto above = naive.upper_bound(requested);
    ASSERT_TRUE(same(ordered.find_first_above(requested), above, naive.end())) << i;
    const auto below = above == naive.begin() ? naive.end() : std::prev(above);
    ASSERT_TRUE(same(ordered.find_last_not_above(requested), below, naive.end())) << i;
    ASSERT_EQ(ordered.size(), naive.size());
  }
  auto expected = naive.begin();
  ordered.for_each([&](const OrderedAddresses::Entry& entry) {
    EXPECT_EQ(entry.address, expected->first);
    ++expected;
  });
}

}  // namespace
}  // namespace hbmscope
