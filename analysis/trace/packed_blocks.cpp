#include "analysis/trace/packed_blocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace hbmscope {
namespace {

// A number at any bit offset is read with one load of eight bytes, so it has at most 57 bits, or 64 if it is
// byte-aligned.
constexpr unsigned loaded_bits_max = 57;
constexpr unsigned row_bits = std::bit_width(packed_numbers_max - 1);
static_assert(packed_numbers_max - 1 <= 255);  // `exceptions` fits a byte: the smallest number is never one.

// Precedes the packed bits: these fields, a byte each, followed by the bytes of `least` without leading zeros.
struct Head {
  std::uint8_t width = 0;       // Bits of each row.
  std::uint8_t more_width = 0;  // Bits of the exceptions' upper part.
  std::uint8_t shift = 0;
  std::uint8_t exceptions = 0;
  std::uint8_t least_bytes = 0;
};

constexpr std::uint64_t mask_of(unsigned width) {
  return width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

class BitWriter {
 public:
  explicit BitWriter(std::uint8_t* out) : out_(out) {}
  void add(std::uint64_t value, unsigned width) {
    bits_ |= value << used_;
    if (used_ + width < 64) {
      used_ += width;
      return;
    }
    std::memcpy(out_, &bits_, sizeof(bits_));
    out_ += sizeof(bits_);
    bits_ = used_ == 0 ? 0 : value >> (64 - used_);
    used_ = used_ + width - 64;
  }
  std::uint8_t* finish() {
    const std::size_t bytes = (used_ + 7) / 8;
    std::memcpy(out_, &bits_, bytes);
    return out_ + bytes;
  }

 private:
  std::uint8_t* out_;
  std::uint64_t bits_ = 0;
  unsigned used_ = 0;  // Bits used in bits_, below 64.
};

std::uint64_t load_bits(const std::uint8_t* begin, std::size_t bit) {
  std::uint64_t word = 0;
  std::memcpy(&word, begin + bit / 8, sizeof(word));
  return word >> bit % 8;
}

// Chooses the widths so that rows and exceptions together take the fewest bits. `rows_of[n]`: how many numbers have n
// bits.
void choose_widths(const std::array<std::uint16_t, 65>& rows_of, std::size_t rows, Head& head) {
  unsigned widest = 64;
  while (rows_of[widest] == 0) --widest;
  head.width = static_cast<std::uint8_t>(widest > loaded_bits_max ? 64 : widest);
  std::size_t best = rows * head.width, exceptions = 0;
  for (unsigned width = widest; width-- > 0;) {
    exceptions += rows_of[width + 1];
    const unsigned more_width = widest - width;
    if (more_width + row_bits > loaded_bits_max) break;
    const std::size_t bits = rows * width + exceptions * (more_width + row_bits);
    if (width > loaded_bits_max || bits >= best) continue;
    best = bits;
    head.width = static_cast<std::uint8_t>(width);
    head.more_width = static_cast<std::uint8_t>(more_width);
    head.exceptions = static_cast<std::uint8_t>(exceptions);
  }
}

}  // namespace

void pack_numbers(std::span<const std::uint64_t> numbers, std::vector<std::uint8_t>& out) {
  auto signed_least = static_cast<std::int64_t>(numbers[0]);
  for (const std::uint64_t number : numbers) signed_least = std::min(signed_least, static_cast<std::int64_t>(number));
  const auto least = static_cast<std::uint64_t>(signed_least);
  std::uint64_t bits = 0;
  for (const std::uint64_t number : numbers) bits |= number - least;
  Head head;
  head.least_bytes = static_cast<std::uint8_t>((std::bit_width(least) + 7) / 8);
  head.shift = static_cast<std::uint8_t>(bits == 0 ? 0 : std::countr_zero(bits));
  std::array<std::uint64_t, packed_numbers_max> above;
  std::array<std::uint16_t, 65> rows_of{};
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    above[row] = (numbers[row] - least) >> head.shift;
    ++rows_of[static_cast<std::size_t>(std::bit_width(above[row]))];
  }
  choose_widths(rows_of, numbers.size(), head);

  const std::size_t begin = out.size();
  out.resize(begin + sizeof(head) + 2 * (numbers.size() + 1) * sizeof(std::uint64_t));
  std::memcpy(out.data() + begin, &head, sizeof(head));
  std::memcpy(out.data() + begin + sizeof(head), &least, head.least_bytes);
  BitWriter rows(out.data() + begin + sizeof(head) + head.least_bytes);
  const std::uint64_t mask = mask_of(head.width);
  if (head.width > 0)
    for (std::size_t row = 0; row < numbers.size(); ++row) rows.add(above[row] & mask, head.width);
  BitWriter exceptions(rows.finish());
  if (head.exceptions > 0)
    for (std::size_t row = 0; row < numbers.size(); ++row)
      if (above[row] > mask) exceptions.add(row | above[row] >> head.width << row_bits, head.more_width + row_bits);
  out.resize(static_cast<std::size_t>(exceptions.finish() - out.data()));
}

namespace {

// Applies to all rows.
struct Common {
  std::uint64_t least = 0;
  unsigned shift = 0;
};

// Every eight rows end on a byte boundary, so the offsets of each group are compile-time constants.
template <class Number, unsigned width>
void unpack_rows(const std::uint8_t* at, std::span<Number> numbers, Common common) {
  constexpr std::size_t together = 8;
  const auto number_at = [&common](const std::uint8_t* begin, std::size_t bit) {
    return static_cast<Number>(common.least + ((load_bits(begin, bit) & mask_of(width)) << common.shift));
  };
  std::size_t row = 0;
  for (; row + together <= numbers.size(); row += together, at += width)
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      ((numbers[row + i] = number_at(at, i * width)), ...);
    }
  (std::make_index_sequence<together>());
  for (std::size_t bit = 0; row < numbers.size(); ++row, bit += width) numbers[row] = number_at(at, bit);
}

template <class Number, std::size_t... widths>
void unpack_rows(unsigned width, const std::uint8_t* at, std::span<Number> numbers, Common common,
                 std::index_sequence<widths...> /*all*/) {
  constexpr std::array<void (*)(const std::uint8_t*, std::span<Number>, Common), sizeof...(widths)> of_width{
      unpack_rows<Number, widths>...};
  of_width[width](at, numbers, common);
}

template <class Number>
const std::uint8_t* unpack(const std::uint8_t* at, std::span<Number> numbers) {
  Head head;
  std::memcpy(&head, at, sizeof(head));
  at += sizeof(head);
  Common common{.shift = head.shift};
  std::memcpy(&common.least, at, sizeof(common.least));
  common.least &= mask_of(8U * head.least_bytes);
  at += head.least_bytes;
  if (head.width == 0)
    std::fill(numbers.begin(), numbers.end(), static_cast<Number>(common.least));
  else
    unpack_rows(head.width, at, numbers, common, std::make_index_sequence<65>());
  at += (numbers.size() * head.width + 7) / 8;
  const unsigned width = head.more_width + row_bits, shift = head.width + head.shift;
  std::size_t bit = 0;
  for (unsigned i = 0; i < head.exceptions; ++i, bit += width) {
    const std::uint64_t both = load_bits(at, bit) & mask_of(width);
    numbers[both & mask_of(row_bits)] += static_cast<Number>(both >> row_bits << shift);
  }
  return at + (bit + 7) / 8;
}

}  // namespace

const std::uint8_t* unpack_numbers(const std::uint8_t* at, std::span<std::uint64_t> numbers) {
  return unpack(at, numbers);
}

const std::uint8_t* unpack_numbers(const std::uint8_t* at, std::span<std::uint32_t> numbers) {
  return unpack(at, numbers);
}

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

void PackedBlocks::append(const PackedBlocks& more) {
  if (!waiting_.empty()) pack();
  bytes_.insert(bytes_.end(), more.bytes_.begin(), more.bytes_.end() - packed_numbers_behind);
  pieces_.insert(pieces_.end(), more.pieces_.begin(), more.pieces_.end());
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
