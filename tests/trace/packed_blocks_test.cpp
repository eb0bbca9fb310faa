// Packed blocks come back unchanged, whatever they contain: common blocks, and values that no source reports.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "analysis/trace/packed_blocks.h"

namespace hbmscope {
namespace {

using Random = std::mt19937_64;

std::vector<std::uint64_t> unpacked(const std::vector<std::uint8_t>& packed, std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  EXPECT_EQ(packed.data() + packed.size() - packed_numbers_behind, unpack_numbers(packed.data(), numbers));
  return numbers;
}

TEST(PackedNumbers, all_widths_come_back) {
  Random random(1);
  for (unsigned width = 0; width <= 64; ++width)
    for (unsigned shift = 0; shift < 64; shift += 7)
      for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{63}, packed_numbers_max}) {
        // In rare fields all but every tenth value are equal.
        for (const bool is_rare : {false, true}) {
          const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
          const std::uint64_t base = random() << random() % 64;
          std::vector<std::uint64_t> numbers(count, base);
          for (std::uint64_t& number : numbers)
            if (!is_rare || random() % 10 == 0) number = base + ((random() & mask) << shift);
          std::vector<std::uint8_t> packed;
          pack_numbers(numbers, packed);
          packed.insert(packed.end(), packed_numbers_behind, 0xff);
          ASSERT_EQ(numbers, unpacked(packed, count)) << width << ' ' << shift << ' ' << count;
        }
      }
}

TEST(PackedNumbers, small_ones_take_as_many_bits_as_they_have) {
  std::vector<std::uint64_t> numbers(packed_numbers_max);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = (std::uint64_t{1} << 40) + i % 32 * 256;
  std::vector<std::uint8_t> packed;
  pack_numbers(numbers, packed);
  EXPECT_EQ(5 + 6 + packed_numbers_max * 5 / 8, packed.size());
}

TEST(PackedNumbers, wide_ones_do_not_widen_the_others) {
  std::vector<std::uint64_t> numbers(packed_numbers_max);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i % 32;
  for (const std::size_t row : {3, 77, 255}) numbers[row] = std::uint64_t{1} << 30 | row;
  std::vector<std::uint8_t> packed;
  pack_numbers(numbers, packed);
  const std::size_t exceptions = (3 * (8 + 31 - 5) + 7) / 8;
  EXPECT_EQ(5 + packed_numbers_max * 5 / 8 + exceptions, packed.size());
  packed.insert(packed.end(), packed_numbers_behind, 0xff);
  EXPECT_EQ(numbers, unpacked(packed, numbers.size()));
}

TEST(PackedBlocks, blocks_come_back_field_by_field) {
  Random random(2);
  const auto any = [&] { return random() << random() % 64; };
  std::vector<wire::LiveRecord> blocks;
  std::uint64_t address = 0;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    wire::LiveRecord block;
    const bool is_odd = random() % 20 == 0;  // In no order, and with impossible fields.
    address += random() % 8 == 0 ? random() % 100 * 256 : 0;
    block.address = is_odd ? any() : address;
    block.size = is_odd ? any() : (1 + random() % 1000) * 256;
    block.requested = random() % 10 == 0 ? ~std::uint64_t{0} : is_odd ? any() : block.size - random() % 256;
    block.event = random() % 10 == 0 ? ~std::uint64_t{0} : is_odd ? any() : 100'000 - random() % 5000;
    block.heap = 1 + i / 1500;
    block.slot = static_cast<std::uint32_t>(random());
    block.stack = static_cast<std::uint32_t>(random() % 500);
    block.stream = static_cast<std::uint32_t>(random() % 2);
    block.tag = is_odd ? static_cast<std::uint32_t>(any()) : 0;
    block.flags = is_odd ? static_cast<std::uint32_t>(any()) : 0;
    address += block.size;
    blocks.push_back(block);
  }
  PackedBlocks packed(100'000);
  for (const wire::LiveRecord& block : blocks) packed.add(block);
  packed.finish();
  std::size_t at = 0;
  LiveColumns columns;
  packed.for_each_piece(columns, [&](std::uint32_t heap, std::size_t rows) {
    ASSERT_LE(rows, LiveColumns::piece_rows_max);
    for (std::size_t row = 0; row < rows; ++row, ++at) {
      ASSERT_LT(at, blocks.size());
      const wire::LiveRecord block{.address = columns.address[row],
                                   .size = columns.size[row],
                                   .requested = columns.requested[row],
                                   .event = columns.event[row],
                                   .heap = heap,
                                   .slot = columns.slot[row],
                                   .stack = columns.stack[row],
                                   .stream = columns.stream[row],
                                   .tag = columns.tag[row],
                                   .flags = columns.flags[row]};
      ASSERT_EQ(0, std::memcmp(&blocks[at], &block, sizeof(block))) << at;
    }
  });
  EXPECT_EQ(blocks.size(), at);
}

TEST(PackedBlocks, slots_come_back_in_their_order) {
  Random random(3);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, packed_numbers_max, 3 * packed_numbers_max + 5}) {
    std::vector<std::uint32_t> slots(count);
    std::generate(slots.begin(), slots.end(), [&] { return static_cast<std::uint32_t>(random()); });
    EXPECT_EQ(slots, unpack_slots(pack_slots(slots), count));
  }
}

}  // namespace
}  // namespace hbmscope
