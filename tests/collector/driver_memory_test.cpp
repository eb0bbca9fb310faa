// Blocks that end with their context or module, compared with a naive list, for random allocations, frees and ends.
#include "collector/serve/driver_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/trace/stream.h"
#include "collector/wire/ring_layout.h"

namespace hbmscope {
namespace {

class DriverMemory : public testing::Test {
 protected:
  void SetUp() override {
    wire::HeapRecord heap;
    heap.flags = wire::heap_flag::has_addresses;
    for (int i = 0; i < heaps; ++i) writer.define_heap(heap, "heap", "device");
  }

  struct Block {
    std::uint32_t heap = 0, owner = 0;
    std::uint64_t size = 0;
  };
  void take(std::uint64_t key, Block block, std::uint32_t flags = 0) {
    wire::AllocRecord record;
    record.address = key;
    record.size = block.size;
    record.heap = block.heap;
    record.flags = wire::driver_block | flags | block.owner << wire::owner_shift;
    memory.take(record, ++time);
  }
  static wire::FreeAtRecord named(std::uint64_t number) {
    wire::FreeAtRecord record;
    record.address = number;
    return record;
  }
  std::uint64_t in_use(std::uint32_t heap) {
    writer.flush();
    return stream.last_state().heap(heap).in_use_bytes;
  }
  PhysicalBytes physical(std::uint32_t heap) {
    writer.flush();
    return stream.last_state().physical().heap(heap);
  }
  template <class Record>
  static Record range_of(std::uint64_t address, std::uint64_t size, std::uint32_t heap) {
    Record record;
    record.address = address;
    record.size = size;
    record.heap = heap;
    return record;
  }

  static constexpr int heaps = 2;
  Stream stream;
  wire::StreamWriter writer{0,
                            [this](const wire::SharedBlock& block) { EXPECT_EQ(std::nullopt, stream.append(block)); }};
  serve::PoolRegions regions{writer};
  serve::DriverMemory memory{writer, regions};
  std::int64_t time = 0;
};

TEST_F(DriverMemory, what_ends_with_its_owner_is_what_a_naive_list_says) {
  std::mt19937_64 random(20261122);
  using Blocks = std::map<std::uint64_t, Block>;
  Blocks blocks, arrays;
  const auto of_owner = [](std::uint32_t owner) { return [=](const auto& one) { return one.second.owner == owner; }; };
  constexpr std::uint32_t owners = 5;
  std::uint64_t gave = 0;
  for (int step = 0; step < 200'000; ++step) {
    const bool is_array = random() % 4 == 0;
    Blocks& of_kind = is_array ? arrays : blocks;
    const std::uint64_t key = (1 + random() % 400) * 4096;
    const std::uint64_t what = random() % 1000;
    if (what == 0) {
      const auto owner = static_cast<std::uint32_t>(1 + random() % owners);
      memory.give_all_of(named(owner), ++time);
      gave += std::erase_if(blocks, of_owner(owner)) + std::erase_if(arrays, of_owner(owner));
    } else if (what < 500) {
      // Now and then over one whose free was missed.
      if (of_kind.contains(key) && random() % 16 != 0) continue;
      const Block block{static_cast<std::uint32_t>(1 + random() % heaps),
                        static_cast<std::uint32_t>(random() % (owners + 1)), 1 + random() % 4096};
      take(key, block, is_array ? wire::named_by_handle : 0);
      of_kind[key] = block;
    } else if (of_kind.erase(key) == 1) {
      if (is_array)
        memory.give_handle(named(key), ++time);
      else
        memory.give(named(key), ++time);
    }
  }
  EXPECT_GT(gave, 1000U);
  for (std::uint32_t heap = 1; heap <= heaps; ++heap) {
    std::uint64_t wanted = 0;
    for (const Blocks* of_kind : {&blocks, &arrays})
      for (const auto& [key, block] : *of_kind) wanted += block.heap == heap ? block.size : 0;
    EXPECT_GT(wanted, 0U);
    EXPECT_EQ(in_use(heap), wanted);
  }
  EXPECT_EQ(stream.last_state().problems().unknown_frees, 0U);
}

TEST_F(DriverMemory, a_variable_is_one_block_however_often_it_is_reported) {
  for (int i = 0; i < 3; ++i) take(4096, {1, 300, 100}, wire::of_module);
  EXPECT_EQ(in_use(1), 100U);
  EXPECT_EQ(stream.counts().alloc, 1U);
  memory.give_all_of(named(300), ++time);
  memory.give_all_of(named(300), ++time);  // It has nothing any more.
  memory.give_all_of(named(7), ++time);    // Nobody has heard of it.
  EXPECT_EQ(in_use(1), 0U);
  EXPECT_EQ(stream.counts().free, 1U);
}

// A thread that is not scheduled may report its free long after another thread has reported getting the address.
TEST_F(DriverMemory, a_free_that_comes_late_is_not_of_the_block_that_has_the_address_now) {
  memory.begin_row(10, 0);
  take(4096, {1, 0, 100});
  memory.begin_row(30, 0);
  take(4096, {1, 0, 7});
  memory.begin_row(20, 0);
  memory.give(named(4096), ++time);
  EXPECT_EQ(in_use(1), 7U);
  memory.begin_row(40, 0);
  memory.give(named(4096), ++time);
  EXPECT_EQ(in_use(1), 0U);
  EXPECT_EQ(stream.last_state().problems().unknown_frees, 0U);
}

// The calls began at 15 and 35 and are reported last; by then the address has belonged to another heap, and to nobody.
TEST_F(DriverMemory, what_is_handed_out_anew_was_given_back_by_a_call_that_is_still_out) {
  const auto count = [&] {
    writer.flush();
    return std::pair(stream.counts().alloc, stream.counts().free);
  };
  for (const std::uint32_t flags : {0U, wire::named_by_handle}) {
    const auto give = [&](std::uint64_t ticks) {
      memory.begin_row(ticks, 0);
      if (flags == 0)
        memory.give(named(4096), ++time);
      else
        memory.give_handle(named(4096), ++time);
    };
    const auto [allocs, frees] = count();
    memory.begin_row(10, 0);
    take(4096, {1, 0, 100}, flags);
    memory.begin_row(20, 15);
    take(4096, {2, 0, 7}, flags);
    EXPECT_EQ(in_use(1), 0U);
    give(30);
    memory.begin_row(32, 15);
    take(4096, {1, 0, 8}, flags);
    memory.begin_row(40, 15);
    take(4096, {1, 0, 9}, flags);
    EXPECT_EQ(count(), std::pair(allocs + 4, frees + 3));
    give(15);
    give(35);
    EXPECT_EQ(count(), std::pair(allocs + 4, frees + 3));
    EXPECT_EQ(in_use(1), 9U);
    give(50);
    EXPECT_EQ(count(), std::pair(allocs + 4, frees + 4));
    EXPECT_EQ(in_use(1) + in_use(2), 0U);
  }
  EXPECT_EQ(stream.last_state().count_problems(), 0U);
}

TEST_F(DriverMemory, handles_and_mappings_are_handed_out_anew_too) {
  wire::PhysicalCreateRecord handle;
  handle.handle = 5;
  handle.size = 4096;
  handle.heap = 1;
  auto mapping = range_of<wire::MapRecord>(8192, 4096, 1);
  mapping.handle = 5;
  const auto unmap = range_of<wire::UnmapRecord>(8192, 4096, 1);
  wire::PhysicalReleaseRecord release;
  release.handle = 5;
  for (const std::uint64_t ticks : {10, 20}) {
    memory.begin_row(ticks, ticks == 10 ? 0 : 15);
    memory.create(handle, ++time);
    memory.map(mapping, ++time);
    EXPECT_EQ(physical(1).handles, 1U);
    EXPECT_EQ(physical(1).owned_bytes, 4096U);
    EXPECT_EQ(physical(1).unmapped_bytes, 0U);
  }
  memory.begin_row(16, 0);  // A row that is reported late.
  memory.unmap(unmap, ++time);
  memory.release(release, ++time);
  EXPECT_EQ(physical(1).owned_bytes, 4096U);
  EXPECT_EQ(physical(1).unmapped_bytes, 0U);
  memory.begin_row(30, 0);
  memory.unmap(unmap, ++time);
  EXPECT_EQ(physical(1).unmapped_bytes, 4096U);
  memory.release(release, ++time);
  EXPECT_EQ(physical(1).handles, 0U);
  EXPECT_EQ(stream.last_state().count_problems(), 0U);
}

// A context that is reset keeps its number; a range that is reserved again keeps its address.
TEST_F(DriverMemory, newer_blocks_stay_when_an_end_is_reported_late) {
  memory.begin_row(10, 0);
  take(4096, {1, 3, 100});
  memory.begin_row(30, 0);
  take(8192, {1, 3, 7});
  memory.begin_row(20, 0);
  memory.give_all_of(named(3), ++time);
  EXPECT_EQ(in_use(1), 7U);
  memory.begin_row(40, 0);
  memory.give_all_of(named(3), ++time);
  EXPECT_EQ(in_use(1), 0U);
  const auto range = range_of<wire::ReserveRecord>(4096, 512, 2);
  const auto gone = range_of<wire::UnreserveRecord>(4096, 512, 0);
  memory.begin_row(50, 0);
  memory.reserve(range, ++time);
  memory.begin_row(60, 55);
  memory.reserve(range, ++time);
  memory.begin_row(55, 0);
  memory.unreserve(gone, ++time);
  EXPECT_EQ(physical(2).reserved_bytes, 512U);
  memory.begin_row(70, 0);
  memory.unreserve(gone, ++time);
  EXPECT_EQ(physical(2).reserved_bytes, 0U);
  EXPECT_EQ(stream.last_state().count_problems(), 0U);
}

TEST_F(DriverMemory, an_address_of_a_graph_is_no_block_however_often_it_is_given_back) {
  take(4096, {1, 0, 0});
  for (int launches = 0; launches < 3; ++launches) memory.give(named(4096), ++time);
  take(4096, {1, 0, 100});
  EXPECT_EQ(in_use(1), 100U);
  take(4096, {1, 0, 0});  // Its free was missed.
  EXPECT_EQ(in_use(1), 0U);
  EXPECT_EQ(stream.counts().alloc, 1U);
  // Then another process' block is opened there, and closed.
  wire::PhysicalImportRecord import;
  import.handle = 4096;
  import.size = 512;
  import.heap = 1;
  auto map = range_of<wire::MapRecord>(4096, 512, 1);
  map.handle = 4096;
  memory.import(import, ++time);
  memory.map(map, ++time);
  memory.give(named(4096), ++time);
  EXPECT_EQ(physical(1).imported_bytes, 0U);
  EXPECT_EQ(physical(1).mapped_bytes, 0U);
  EXPECT_EQ(stream.last_state().count_problems(), 0U);
}

TEST_F(DriverMemory, a_free_of_an_unknown_block_counts_in_the_heap_that_the_job_names) {
  take(4096, {1, 0, 100});
  auto unknown = named(8192);
  unknown.heap = 2;
  memory.give(unknown, ++time);
  EXPECT_EQ(in_use(1), 100U);
  EXPECT_EQ(stream.counts().free, 1U);
  EXPECT_EQ(stream.last_state().problems().unknown_frees, 1U);
}

}  // namespace
}  // namespace hbmscope
