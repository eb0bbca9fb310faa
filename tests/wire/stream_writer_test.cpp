#include "collector/wire/stream_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <vector>

#include "collector/wire/block_decoder.h"

namespace hbmscope::wire {
namespace {

struct Collected {
  std::vector<SharedBlock> blocks;
  StreamWriter::Sink sink() {
    return [this](SharedBlock block) { blocks.push_back(std::move(block)); };
  }
};

TEST(StreamWriter, equal_definitions_get_one_id) {
  Collected collected;
  StreamWriter writer(0, collected.sink());
  EXPECT_EQ(0U, writer.define_string(""));
  EXPECT_EQ(writer.define_string("a"), writer.define_string("a"));
  const std::uint32_t frame = writer.define_frame("f", "a.py", 3);
  EXPECT_EQ(frame, writer.define_frame("f", "a.py", 3));
  EXPECT_NE(frame, writer.define_frame("f", "a.py", 4));
  EXPECT_EQ(writer.define_stack(0, frame), writer.define_stack(0, frame));
  EXPECT_NE(writer.define_stack(0, frame), writer.define_stack(1, frame));
}

TEST(StreamWriter, a_free_names_the_slot_that_its_reader_gives) {
  Collected collected;
  StreamWriter writer(0, collected.sink());
  std::mt19937_64 random(5);
  std::map<std::uint64_t, std::uint64_t> live;                    // Address -> allocation id.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;  // For frees: address, allocation id.
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t address = (1 + random() % 1000) << 21;
    const auto found = live.find(address);
    if (found == live.end()) {
      AllocRecord record;
      record.address = address;
      live[address] = writer.alloc(record, i);
    } else {
      EXPECT_TRUE(writer.free(0, address, 0, 0, i));
      expected.emplace_back(address, found->second);
      live.erase(found);
    }
  }
  writer.flush();
  ASSERT_GT(collected.blocks.size(), 2U);

  // A reader: the slot freed last is taken first.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> slots, freed;
  std::vector<std::uint32_t> free_slots;
  BlockDecoder decoder;
  DecodedBlock block;
  for (const SharedBlock& shared : collected.blocks) {
    ASSERT_EQ(std::nullopt, decoder.decode(*shared, block));
    std::size_t allocs = 0, frees = 0;
    for (std::size_t i = 0; i < block.kinds().size(); ++i) {
      if (block.kinds()[i] == static_cast<std::uint8_t>(RecordKind::alloc)) {
        const std::pair<std::uint64_t, std::uint64_t> entry{block.rows<AllocRecord>()[allocs++].address,
                                                            block.header().first_event + i};
        if (free_slots.empty()) {
          slots.push_back(entry);
        } else {
          slots[free_slots.back()] = entry;
          free_slots.pop_back();
        }
      } else {
        const std::uint32_t slot = block.rows<FreeRecord>()[frees++].slot;
        freed.push_back(slots[slot]);
        free_slots.push_back(slot);
      }
    }
  }
  EXPECT_EQ(expected, freed);
}

TEST(StreamWriter, a_free_of_an_unknown_address_keeps_its_address) {
  Collected collected;
  StreamWriter writer(0, collected.sink());
  EXPECT_FALSE(writer.free(1, 4096, 512, 0, 10));
  EXPECT_FALSE(writer.free_requested(1, 8192, 0, 0, 11));
  writer.flush();
  BlockDecoder decoder;
  DecodedBlock block;
  ASSERT_EQ(std::nullopt, decoder.decode(*collected.blocks.at(0), block));
  EXPECT_EQ(4096U, block.rows<FreeAtRecord>()[0].address);
  EXPECT_EQ(512U, block.rows<FreeAtRecord>()[0].size);
  EXPECT_EQ(8192U, block.rows<FreeRequestedAtRecord>()[0].address);
}

TEST(StreamWriter, equal_addresses_in_two_heaps_are_two_blocks) {
  Collected collected;
  StreamWriter writer(0, collected.sink());
  AllocRecord pool, chunk;
  pool.address = chunk.address = 4096;
  pool.heap = 1;
  chunk.heap = 2;
  writer.alloc(pool, 0);
  writer.alloc(chunk, 1);
  EXPECT_TRUE(writer.free(2, 4096, 0, 0, 2));
  EXPECT_FALSE(writer.free(2, 4096, 0, 0, 3));
  EXPECT_TRUE(writer.free(1, 4096, 0, 0, 4));
}

TEST(StreamWriter, a_heap_that_is_gone_takes_its_blocks_with_it) {
  Collected collected;
  StreamWriter writer(0, collected.sink());
  AllocRecord pool, chunk;
  pool.address = chunk.address = 4096;
  pool.heap = 1;
  chunk.heap = 2;
  writer.alloc(pool, 0);
  writer.alloc(chunk, 1);
  HeapGoneRecord gone;
  gone.heap = 1;
  writer.drop_heap(gone, 2);
  EXPECT_FALSE(writer.free(1, 4096, 0, 0, 3));  // The address is unknown, rather than a slot that readers have emptied.
  EXPECT_TRUE(writer.free(2, 4096, 0, 0, 4));
  writer.alloc(pool, 5);
  EXPECT_EQ(0U, writer.missed_frees());  // Its number may be a new heap's: nothing is in the way.
}

AllocRecord block_at(std::uint64_t address, std::uint32_t heap = 0) {
  AllocRecord block;
  block.address = address;
  block.size = 512;
  block.heap = heap;
  return block;
}

TEST(StreamWriter, a_block_closes_by_time_when_it_is_reported_the_time) {
  Collected collected;
  StreamWriter writer(0, collected.sink());
  constexpr std::int64_t begin = 5'000'000'000'000;
  EXPECT_FALSE(writer.flush_if_older(begin, block_age_ns_file)) << "there is nothing in it";
  // Ten events a second for a minute; the draining loop runs every 20 ms.
  for (std::int64_t now = begin; now < begin + 60'000'000'000; now += 20'000'000) {
    if ((now - begin) % 100'000'000 == 0) writer.alloc(block_at(static_cast<std::uint64_t>(now)), now);
    writer.flush_if_older(now, block_age_ns_file);
  }
  ASSERT_EQ(54U, collected.blocks.size()) << "a second of records, then 100 ms until the next one comes";
  for (const SharedBlock& block : collected.blocks) {
    EXPECT_EQ(11U, block->header.events);
    EXPECT_EQ(block_age_ns_file, block->header.last_time_ns - block->header.first_time_ns);
  }
}

TEST(StreamWriter, a_block_closes_by_time_whatever_its_records_say) {
  constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t earliest = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t time : {std::int64_t{0}, latest, earliest}) {
    Collected collected;
    StreamWriter writer(0, collected.sink());
    writer.alloc(block_at(4096), time);
    bool closed = false;
    for (std::int64_t now = 1000; now <= 1000 + block_age_ns_live; now += block_age_ns_live)
      closed |= writer.flush_if_older(now, block_age_ns_live);
    EXPECT_TRUE(closed) << time;
    // The waiting time of a block does not count for the next one.
    writer.alloc(block_at(8192), 2 * block_age_ns_live);
    EXPECT_FALSE(writer.flush_if_older(2 * block_age_ns_live, block_age_ns_live)) << time;
    EXPECT_EQ(1U, collected.blocks.size());
  }
}

TEST(StreamWriter, a_clock_that_steps_back_holds_no_block) {
  Collected collected;
  StreamWriter writer(0, collected.sink());
  writer.alloc(block_at(4096), 10'000);
  EXPECT_FALSE(writer.flush_if_older(9'000, 500));
  EXPECT_FALSE(writer.flush_if_older(1'000, 500));
  EXPECT_TRUE(writer.flush_if_older(1'500, 500));
}

}  // namespace
}  // namespace hbmscope::wire
