// Regions of a framework's pool, found in the driver's memory.
#include "collector/serve/pool_regions.h"

#include <gtest/gtest.h>

#include "analysis/trace/stream.h"
#include "collector/serve/pool_blocks.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

class PoolRegions : public testing::Test {
 protected:
  void SetUp() override {
    wire::HeapRecord record;
    record.layer = static_cast<std::uint8_t>(wire::Layer::pool);
    record.flags = wire::heap_flag::has_addresses | wire::heap_flag::has_regions | wire::heap_flag::is_inside_of_driver;
    for (std::uint32_t* heap : {&pool, &other}) regions.add_heap(*heap = writer.define_heap(record, "pool", "device"));
  }
  void add_block(std::uint32_t heap, std::uint64_t address, std::uint64_t bytes) {
    regions.note_block(heap, address, bytes, ++time);
    wire::AllocRecord block;
    block.address = address;
    block.size = bytes;
    block.heap = heap;
    writer.alloc(block, time);
  }
  std::optional<std::uint64_t> region_bytes(std::uint32_t heap) {
    writer.flush();
    return stream.last_state().heap(heap).space.region_bytes();
  }

  Stream stream;
  wire::StreamWriter writer{0,
                            [this](const wire::SharedBlock& block) { EXPECT_EQ(std::nullopt, stream.append(block)); }};
  serve::PoolRegions regions{writer};
  std::uint32_t pool = 0, other = 0;
  std::int64_t time = 0;
};

TEST_F(PoolRegions, memory_with_a_block_is_a_region_until_the_driver_takes_it_back) {
  regions.note_memory(100 * mib, 50 * mib);
  regions.note_memory(200 * mib, 10 * mib);
  EXPECT_EQ(region_bytes(pool), 0u);
  add_block(pool, 120 * mib, mib);
  add_block(pool, 130 * mib, mib);
  EXPECT_EQ(region_bytes(pool), 50 * mib);
  add_block(pool, 205 * mib, mib);
  EXPECT_EQ(region_bytes(pool), 60 * mib);
  regions.note_memory_gone(100 * mib, ++time);
  EXPECT_EQ(region_bytes(pool), 10 * mib);
}

TEST_F(PoolRegions, a_block_may_span_mappings_that_follow_each_other) {
  for (std::uint64_t at = 0; at < 10; ++at)
    regions.note_memory((100 + 2 * at) * mib, 2 * mib, serve::PoolRegions::Source::mapping);
  add_block(pool, 101 * mib, 4 * mib);
  EXPECT_EQ(region_bytes(pool), 6 * mib);
}

TEST_F(PoolRegions, only_mappings_that_follow_each_other_are_one_piece) {
  const auto largest_free = [&] {
    writer.flush();
    return stream.last_state().heap(pool).space.largest_free();
  };
  regions.note_memory(100 * mib, 10 * mib);
  regions.note_memory(110 * mib, 10 * mib);
  add_block(pool, 100 * mib, mib);
  add_block(pool, 119 * mib, mib);
  EXPECT_EQ(largest_free(), 9 * mib);
  for (const std::uint64_t at : {200, 210})
    regions.note_memory(at * mib, 10 * mib, serve::PoolRegions::Source::mapping);
  add_block(pool, 200 * mib, mib);
  add_block(pool, 219 * mib, mib);
  EXPECT_EQ(largest_free(), 18 * mib);
}

TEST_F(PoolRegions, memory_belongs_to_the_pool_that_used_it_first) {
  regions.note_memory(100 * mib, 50 * mib);
  add_block(pool, 100 * mib, mib);
  add_block(other, 101 * mib, mib);
  EXPECT_EQ(region_bytes(pool), 50 * mib);
  EXPECT_EQ(region_bytes(other), 0u);
}

TEST_F(PoolRegions, memory_that_is_handed_out_again_is_new) {
  regions.note_memory(100 * mib, 50 * mib);
  add_block(pool, 100 * mib, mib);
  regions.note_memory_gone(100 * mib, ++time);
  regions.note_memory(100 * mib, 20 * mib);
  EXPECT_EQ(region_bytes(pool), 0u);
  add_block(other, 110 * mib, mib);
  EXPECT_EQ(region_bytes(other), 20 * mib);
}

TEST_F(PoolRegions, what_is_said_of_a_block_again_is_written_once) {
  serve::PoolBlocks blocks;
  blocks.add_heap(pool);
  wire::AllocRecord block;
  block.address = 100 * mib;
  block.size = mib;
  block.heap = pool;
  block.stack = 7;
  blocks.add(block, writer.alloc(block, ++time));
  const auto say = [&](std::string_view text, std::string_view key = "array") {
    wire::AttributeRecord attribute;
    attribute.allocation = block.address | wire::block_of_pool;
    attribute.key = writer.define_string(key);
    attribute.value = writer.define_string(text);
    blocks.note(attribute, ++time, writer);
    writer.flush();
    return stream.attributes().size();
  };
  EXPECT_EQ(say("f32[8] output 0 of step"), 1u);
  EXPECT_EQ(say("f32[8] output 0 of step"), 1u);
  EXPECT_EQ(say("f32[8] output 1 of step"), 2u);
  EXPECT_EQ(say("f32[8] output 0 of step"), 3u);
  EXPECT_EQ(say("params['w']", "name"), 4u);
  EXPECT_EQ(say("f32[8] output 0 of step"), 4u);
  EXPECT_EQ(say("params['w']", "name"), 4u);
  EXPECT_EQ(stream.attributes().rows()[3].stack, 7u);
  EXPECT_EQ(stream.attributes().rows()[3].size, mib);
  blocks.remove_heap(pool);
  EXPECT_EQ(say("f32[8] output 5 of step"), 4u);
}

TEST_F(PoolRegions, blocks_in_unknown_memory_have_no_region) {
  regions.note_memory(100 * mib, 50 * mib);
  add_block(pool, 10 * mib, mib);
  add_block(pool, 149 * mib, 2 * mib);
  EXPECT_EQ(region_bytes(pool), 50 * mib);
}

TEST_F(PoolRegions, a_pool_that_is_gone_leaves_its_memory) {
  regions.note_memory(100 * mib, 50 * mib);
  add_block(pool, 100 * mib, mib);
  regions.note_heap_gone(pool);
  add_block(other, 100 * mib, mib);
  EXPECT_EQ(region_bytes(other), 50 * mib);
}

}  // namespace
}  // namespace hbmscope
