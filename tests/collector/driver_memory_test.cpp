// What ends with its context or its module, beside a naive list of it, on random takes, frees and ends.
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

  static constexpr int heaps = 2;
  Stream stream;
  wire::StreamWriter writer{0,
                            [this](const wire::SharedBlock& block) { EXPECT_EQ(std::nullopt, stream.append(block)); }};
  serve::DriverMemory memory{writer};
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

TEST_F(DriverMemory, a_variable_is_one_block_however_often_it_is_told) {
  for (int i = 0; i < 3; ++i) take(4096, {1, 300, 100}, wire::of_module);
  EXPECT_EQ(in_use(1), 100U);
  EXPECT_EQ(stream.counts().alloc, 1U);
  memory.give_all_of(named(300), ++time);
  memory.give_all_of(named(300), ++time);  // It has nothing any more.
  memory.give_all_of(named(7), ++time);    // Nobody has heard of it.
  EXPECT_EQ(in_use(1), 0U);
  EXPECT_EQ(stream.counts().free, 1U);
}

// A thread that is not let run may tell of its free long after another one has told that it got the address.
TEST_F(DriverMemory, a_free_that_comes_late_is_not_of_the_block_that_has_the_address_now) {
  memory.set_ticks(10);
  take(4096, {1, 0, 100});
  memory.set_ticks(30);
  take(4096, {1, 0, 7});
  memory.set_ticks(20);
  memory.give(named(4096), ++time);
  EXPECT_EQ(in_use(1), 7U);
  memory.set_ticks(40);
  memory.give(named(4096), ++time);
  EXPECT_EQ(in_use(1), 0U);
  EXPECT_EQ(stream.last_state().problems().unknown_frees, 0U);
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
