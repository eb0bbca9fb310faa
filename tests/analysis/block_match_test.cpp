// Pairs of blocks, compared with the slow and obvious method: comparing two lists of ids.
#include "analysis/query/block_match.h"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

std::map<std::uint64_t, LiveBlock> by_id(const StreamState& state, std::uint32_t heap) {
  std::map<std::uint64_t, LiveBlock> blocks;
  for (const LiveBlock& block : state.slots())
    if (block.heap == heap) blocks.emplace(block.event, block);
  return blocks;
}

BlockFate slow_fate(const std::map<std::uint64_t, LiveBlock>& before, const std::map<std::uint64_t, LiveBlock>& after,
                    std::uint64_t id) {
  if (!before.contains(id)) return BlockFate::added;
  if (!after.contains(id)) return BlockFate::gone;
  return before.at(id).address == after.at(id).address ? BlockFate::unchanged : BlockFate::moved;
}

TEST(BlockMatch, random_streams_are_paired_as_ids_say_in_either_direction) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    TraceBuilder built;
    const std::uint32_t heaps[] = {built.heap("GPU 0", 0), built.heap("GPU 1", 0)};
    std::mt19937 random(seed);
    std::set<std::uint64_t> live[2];
    for (int event = 0; event < 200; ++event) {
      const std::size_t which = random() % 2;
      const std::uint64_t address = 0x1000 * (1 + random() % 40);
      if (live[which].insert(address).second) {
        built.alloc(heaps[which], address, 1 + random() % 0x1000);
      } else if (random() % 2 == 0) {
        built.free(heaps[which], address);
        live[which].erase(address);
      }
    }
    built.writer.flush();
    const std::uint64_t end = built.trace.streams[0].end_position();
    const auto first = built.states_at("#" + std::to_string(random() % end));
    const auto second = built.states_at("#" + std::to_string(random() % end));
    for (const std::uint32_t heap : heaps) {
      std::vector<bool> counts(3, false);
      counts[heap] = true;
      const auto before = by_id(first[0], heap), after = by_id(second[0], heap);
      std::map<std::uint64_t, BlockFate> fates;
      match_blocks(first[0], second[0], counts, [&](const LiveBlock& was, const LiveBlock& is) {
        const std::uint64_t id = is.is_live() ? is.event : was.event;
        EXPECT_TRUE(fates.emplace(id, fate_of(was, is)).second) << "each block once";
      });
      std::set<std::uint64_t> ids;
      for (const auto& [id, block] : before) ids.insert(id);
      for (const auto& [id, block] : after) ids.insert(id);
      EXPECT_EQ(ids.size(), fates.size()) << seed;
      for (const std::uint64_t id : ids) EXPECT_EQ(slow_fate(before, after, id), fates.at(id)) << seed;
    }
  }
}

TEST(BlockMatch, size_and_place_say_what_became_of_a_block) {
  LiveBlock was;
  was.heap = 1;
  was.address = 0x1000;
  was.size = 100;
  LiveBlock is = was;
  EXPECT_EQ(BlockFate::unchanged, fate_of(was, is));
  is.address = 0x2000;
  EXPECT_EQ(BlockFate::moved, fate_of(was, is));
  is.size = 200;
  EXPECT_EQ(BlockFate::grown, fate_of(was, is)) << "wherever it is now";
  is.size = 50;
  EXPECT_EQ(BlockFate::shrunk, fate_of(was, is));
  EXPECT_EQ(BlockFate::gone, fate_of(was, {}));
  EXPECT_EQ(BlockFate::added, fate_of({}, is));
}

}  // namespace
}  // namespace hbmscope
