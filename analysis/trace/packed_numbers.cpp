#include "analysis/trace/packed_numbers.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hbmscope {
namespace {

// A number at any bit is read with one load of eight bytes, so it has at most 57 bits, or 64 and begins a byte.
constexpr unsigned loaded_bits_max = 57;
constexpr unsigned row_bits = std::bit_width(packed_numbers_max - 1);

struct Head {
  std::uint64_t least = 0;
  std::uint16_t exceptions = 0;  // Rows that are not the least one, where only these are kept.
  std::uint8_t shift = 0, width = 0;
  bool has_exceptions = false;
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
  unsigned used_ = 0;  // Of bits_, below 64.
};

std::uint64_t load_bits(const std::uint8_t* begin, std::size_t bit) {
  std::uint64_t word = 0;
  std::memcpy(&word, begin + bit / 8, sizeof(word));
  return word >> bit % 8;
}

Head make_head(std::span<const std::uint64_t> numbers) {
  Head head;
  auto least = static_cast<std::int64_t>(numbers[0]), most = least;
  for (const std::uint64_t number : numbers) {
    least = std::min(least, static_cast<std::int64_t>(number));
    most = std::max(most, static_cast<std::int64_t>(number));
  }
  head.least = static_cast<std::uint64_t>(least);
  std::uint64_t bits = 0;
  std::size_t others = 0;
  for (const std::uint64_t number : numbers) {
    bits |= number - head.least;
    others += number != head.least ? 1 : 0;
  }
  if (bits == 0) return head;
  head.shift = static_cast<std::uint8_t>(std::countr_zero(bits));
  const auto width =
      static_cast<unsigned>(std::bit_width((static_cast<std::uint64_t>(most) - head.least) >> head.shift));
  head.width = static_cast<std::uint8_t>(width > loaded_bits_max - row_bits ? 64 : width);
  head.has_exceptions = head.width < 64 && others * (head.width + row_bits) < numbers.size() * head.width;
  if (head.has_exceptions) head.exceptions = static_cast<std::uint16_t>(others);
  return head;
}

}  // namespace

void pack_numbers(std::span<const std::uint64_t> numbers, std::vector<std::uint8_t>& out) {
  const Head head = make_head(numbers);
  const std::size_t begin = out.size();
  out.resize(begin + sizeof(head) + numbers.size() * sizeof(std::uint64_t));
  std::memcpy(out.data() + begin, &head, sizeof(head));
  BitWriter writer(out.data() + begin + sizeof(head));
  if (head.has_exceptions) {
    for (std::size_t row = 0; row < numbers.size(); ++row)
      if (numbers[row] != head.least)
        writer.add(row | (numbers[row] - head.least) >> head.shift << row_bits, head.width + row_bits);
  } else if (head.width > 0) {
    for (const std::uint64_t number : numbers) writer.add((number - head.least) >> head.shift, head.width);
  }
  out.resize(static_cast<std::size_t>(writer.finish() - out.data()));
}

namespace {

template <class Number>
const std::uint8_t* unpack(const std::uint8_t* at, std::span<Number> numbers) {
  Head head;
  std::memcpy(&head, at, sizeof(head));
  at += sizeof(head);
  if (head.has_exceptions || head.width == 0) {
    std::fill(numbers.begin(), numbers.end(), static_cast<Number>(head.least));
    const unsigned width = head.width + row_bits;
    std::size_t bit = 0;
    for (std::size_t i = 0; i < head.exceptions; ++i, bit += width) {
      const std::uint64_t both = load_bits(at, bit) & mask_of(width);
      numbers[both & mask_of(row_bits)] = static_cast<Number>(head.least + (both >> row_bits << head.shift));
    }
    return at + (bit + 7) / 8;
  }
  const std::uint64_t mask = mask_of(head.width);
  std::size_t bit = 0;
  for (Number& number : numbers) {
    number = static_cast<Number>(head.least + ((load_bits(at, bit) & mask) << head.shift));
    bit += head.width;
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

}  // namespace hbmscope
