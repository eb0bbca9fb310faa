#include "analysis/trace/packed_blocks.h"

#include <algorithm>
#include <array>

namespace hbmscope {

using Numbers = std::array<std::uint64_t, packed_numbers_max>;

void PackedBlocks::pack() {
  Numbers column;
  const std::span<const std::uint64_t> numbers(column.data(), waiting_.size());
  const auto add_column = [&](const auto& number_of) {
    std::transform(waiting_.begin(), waiting_.end(), column.begin(), number_of);
    pack_numbers(numbers, bytes_);
  };
  // Relative to the end of the previous block.
  std::uint64_t end = 0;
  add_column([&](const wire::LiveRecord& block) {
    const std::uint64_t gap = block.address - end;
    end = block.address + block.size;
    return gap;
  });
  add_column([](const wire::LiveRecord& block) { return block.size; });
  add_column([](const wire::LiveRecord& block) { return block.size - block.requested; });
  add_column([this](const wire::LiveRecord& block) { return position_ - block.event; });
  add_column([](const wire::LiveRecord& block) { return std::uint64_t{block.slot}; });
  add_column([](const wire::LiveRecord& block) { return std::uint64_t{block.stack}; });
  add_column([](const wire::LiveRecord& block) { return std::uint64_t{block.stream}; });
  add_column([](const wire::LiveRecord& block) { return std::uint64_t{block.tag}; });
  add_column([](const wire::LiveRecord& block) { return std::uint64_t{block.flags}; });
  pieces_.push_back({waiting_.front().heap, static_cast<std::uint32_t>(waiting_.size())});
  waiting_.clear();
}

void PackedBlocks::finish() {
  if (!waiting_.empty()) pack();
  waiting_ = {};
  bytes_.insert(bytes_.end(), packed_numbers_behind, 0);
  bytes_.shrink_to_fit();
  pieces_.shrink_to_fit();
}

const std::uint8_t* PackedBlocks::unpack(const std::uint8_t* at, std::size_t rows, LiveColumns& columns) const {
  const auto read = [&](auto& column) { at = unpack_numbers(at, std::span(column.data(), rows)); };
  read(columns.address);  // Still the gaps before them.
  read(columns.size);
  read(columns.requested);  // Still the rounding.
  read(columns.event);      // Still the ages.
  read(columns.slot);
  read(columns.stack);
  read(columns.stream);
  read(columns.tag);
  read(columns.flags);
  std::uint64_t end = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    columns.address[row] += end;
    end = columns.address[row] + columns.size[row];
  }
  for (std::size_t row = 0; row < rows; ++row) columns.requested[row] = columns.size[row] - columns.requested[row];
  for (std::size_t row = 0; row < rows; ++row) columns.event[row] = position_ - columns.event[row];
  return at;
}

std::vector<std::uint8_t> pack_slots(std::span<const std::uint32_t> slots) {
  std::vector<std::uint8_t> packed;
  Numbers numbers;
  for (; !slots.empty(); slots = slots.subspan(std::min(slots.size(), packed_numbers_max))) {
    const std::size_t count = std::min(slots.size(), packed_numbers_max);
    std::copy_n(slots.begin(), count, numbers.begin());
    pack_numbers(std::span(numbers).first(count), packed);
  }
  packed.insert(packed.end(), packed_numbers_behind, 0);
  packed.shrink_to_fit();
  return packed;
}

std::vector<std::uint32_t> unpack_slots(std::span<const std::uint8_t> packed, std::size_t count) {
  std::vector<std::uint32_t> slots(count);
  Numbers numbers;
  const std::uint8_t* at = packed.data();
  for (std::size_t done = 0; done < count;) {
    const std::size_t part = std::min(count - done, packed_numbers_max);
    at = unpack_numbers(at, std::span(numbers).first(part));
    for (std::size_t i = 0; i < part; ++i) slots[done++] = static_cast<std::uint32_t>(numbers[i]);
  }
  return slots;
}

}  // namespace hbmscope
