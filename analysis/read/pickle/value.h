// One value of a pickle in eight bytes. The low three bits are a tag; the rest is the value itself (None, booleans,
// integers of 61 bits: nearly every address, size and time of a snapshot) or the number of something in the Document.
// Equal bits mean the same object, so shared objects stay shared and one comparison recognises them.
#pragma once

#include <cstdint>

namespace hbmscope::pickle {

class Value {
 public:
  enum class Tag : std::uint8_t { special = 0, small_integer, wide_integer, real, text, bytes, list, dict };

  Value() = default;  // Not initialised, so that columns of millions are not filled twice.

  static constexpr Value missing() { return Value(0); }  // Not in any pickle: "there is no such key".
  static constexpr Value none() { return Value(1U << 3); }
  static constexpr Value boolean(bool value) { return Value((value ? 3U : 2U) << 3); }
  static constexpr Value small_integer(std::int64_t value) {
    return Value(static_cast<std::uint64_t>(value) << 3 | static_cast<std::uint64_t>(Tag::small_integer));
  }
  static constexpr bool fits_small(std::int64_t value) { return value >= -(limit) && value < limit; }
  static constexpr Value numbered(Tag tag, std::uint32_t number) {
    return Value(std::uint64_t{number} << 3 | static_cast<std::uint64_t>(tag));
  }

  constexpr Tag tag() const { return static_cast<Tag>(bits_ & 7); }
  constexpr bool is(Tag wanted) const { return tag() == wanted; }
  constexpr bool is_missing() const { return bits_ == 0; }
  constexpr bool is_none() const { return bits_ == none().bits_; }
  constexpr bool is_boolean() const { return bits_ >> 4 == 1 && tag() == Tag::special; }
  constexpr bool is_true() const { return bits_ == boolean(true).bits_; }
  constexpr std::int64_t as_small() const { return static_cast<std::int64_t>(bits_) >> 3; }
  constexpr std::uint32_t number() const { return static_cast<std::uint32_t>(bits_ >> 3); }
  constexpr std::uint64_t bits() const { return bits_; }
  friend constexpr bool operator==(Value a, Value b) { return a.bits_ == b.bits_; }

 private:
  static constexpr std::int64_t limit = std::int64_t{1} << 60;
  constexpr explicit Value(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_;
};
static_assert(sizeof(Value) == 8);

// Any integer of a pickle, in two's complement: an address above 2^63 and the negative number that C++ makes of it have
// the same bits.
struct Integer {
  std::uint64_t bits = 0;
  bool is_negative = false;
  bool is_too_wide = false;  // More than 64 bits; `bits` are the lowest ones.
};

}  // namespace hbmscope::pickle
