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
  // From the end of the block before.
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

// First column by column, then row by row: each row is written once.
const std::uint8_t* PackedBlocks::unpack(const std::uint8_t* at, std::uint32_t heap,
                                         std::span<wire::LiveRecord> rows) const {
  std::array<std::uint64_t, packed_numbers_max> gaps, sizes, roundings, ages;
  std::array<std::uint32_t, packed_numbers_max> slots, stacks, streams, tags, flags;
  const auto read = [&](auto& column) { at = unpack_numbers(at, std::span(column.data(), rows.size())); };
  read(gaps);
  read(sizes);
  read(roundings);
  read(ages);
  read(slots);
  read(stacks);
  read(streams);
  read(tags);
  read(flags);
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    wire::LiveRecord& block = rows[i];
    block.address = end + gaps[i];
    end = block.address + sizes[i];
    block.size = sizes[i];
    block.requested = sizes[i] - roundings[i];
    block.event = position_ - ages[i];
    block.heap = heap;
    block.slot = slots[i];
    block.stack = stacks[i];
    block.stream = streams[i];
    block.tag = tags[i];
    block.flags = flags[i];
  }
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
