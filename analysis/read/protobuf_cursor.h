// Walks protobuf's wire format (https://protobuf.dev/programming-guides/encoding/) without ever reading outside of its
// bytes. Used once for the whole message and again for each message inside it.
//
//   while (cursor.next_field(field)) switch (field.key) { case varint_key(7): ... }
//   if (cursor.problem() != WireProblem::none) ...
//
// A key is field number and wire type together. A known field number with another wire type is an unknown field, which
// is skipped, as in protobuf itself.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hbmscope::protobuf {

static_assert(std::endian::native == std::endian::little, "varints are read as words");

enum class WireProblem : std::uint8_t { none, cut_off, long_varint, bad_tag, bad_group };

enum class WireType : std::uint32_t { varint = 0, fixed64 = 1, bytes = 2, group_begin = 3, group_end = 4, fixed32 = 5 };

constexpr std::uint32_t varint_key(std::uint32_t number) {
  return number << 3;
}
constexpr std::uint32_t bytes_key(std::uint32_t number) {
  return number << 3 | 2;
}

struct ByteRange {
  const std::uint8_t* begin = nullptr;
  const std::uint8_t* end = nullptr;
};

struct WireField {
  std::uint32_t key = 0;     // Number << 3 | wire type.
  std::uint64_t varint = 0;  // The value of a varint field.
  ByteRange bytes;           // The content of a length-delimited field.
};

// A loop over fields runs a third faster if the cursor stays in registers. So its functions are inlined, and what is
// not inlined takes and returns values instead of a pointer to it.
class WireCursor {
 public:
  explicit WireCursor(ByteRange range) : at_(range.begin), end_(range.end) {}

  // False at the end and after a problem. Groups and fixed-size fields are skipped.
  [[gnu::always_inline]] bool next_field(WireField& field) {
    if (at_ == end_) return false;
    field_begin_ = at_;
    std::uint64_t key = 0;
    if (!read_varint(key)) return false;
    if (key > 0xffffffff || key >> 3 == 0) return fail(WireProblem::bad_tag);
    field.key = static_cast<std::uint32_t>(key);
    switch (static_cast<WireType>(key & 7)) {
      case WireType::varint: return read_varint(field.varint);
      case WireType::bytes: return read_bytes(field.bytes);
      case WireType::fixed64: return skip(8);
      case WireType::fixed32: return skip(4);
      case WireType::group_begin: return continue_at(skip_group(at_, end_, field.key >> 3, 0));
      case WireType::group_end: return fail(WireProblem::bad_group);
    }
    return fail(WireProblem::bad_tag);
  }

  // Most numbers have one byte.
  [[gnu::always_inline]] bool read_varint(std::uint64_t& value) {
    if (at_ != end_ && *at_ < 0x80) {
      value = *at_++;
      return true;
    }
    const Varint varint = read_long_varint(at_, end_);
    if (varint.end == nullptr)
      return fail(end_ - at_ < varint_bytes_max ? WireProblem::cut_off : WireProblem::long_varint);
    at_ = varint.end;
    value = varint.value;
    return true;
  }

  const std::uint8_t* at() const { return at_; }
  const std::uint8_t* field_begin() const { return field_begin_; }  // Where the last field from next_field begins.
  WireProblem problem() const { return problem_; }

 private:
  static constexpr std::ptrdiff_t varint_bytes_max = 10;

  struct Varint {
    std::uint64_t value = 0;
    const std::uint8_t* end = nullptr;  // Null: it has no end within the bytes, or more than ten of them.
  };

  // Up to eight bytes at once: drops their marks, and joins neighbours of 7, then 14, then 28 bits.
  static Varint read_long_varint(const std::uint8_t* at, const std::uint8_t* end) {
    std::uint64_t word = 0;
    if (end - at < static_cast<std::ptrdiff_t>(sizeof(word))) return read_varint_by_byte(at, end);
    std::memcpy(&word, at, sizeof(word));
    const std::uint64_t last_bytes = ~word & 0x8080808080808080U;
    if (last_bytes == 0) return read_varint_by_byte(at, end);
    const int bytes = (std::countr_zero(last_bytes) >> 3) + 1;
    word &= (last_bytes ^ (last_bytes - 1)) & 0x7f7f7f7f7f7f7f7fU;
    word = (word & 0x7f007f007f007f00U) >> 1 | (word & 0x007f007f007f007fU);
    word = (word & 0x3fff00003fff0000U) >> 2 | (word & 0x00003fff00003fffU);
    return {(word & 0x0fffffff00000000U) >> 4 | (word & 0x000000000fffffffU), at + bytes};
  }

  static Varint read_varint_by_byte(const std::uint8_t* at, const std::uint8_t* end) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 7 * varint_bytes_max && at != end; shift += 7) {
      const std::uint8_t byte = *at++;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << (shift & 63);
      if (byte < 0x80) return {value, at};
    }
    return {};
  }

  [[gnu::always_inline]] bool read_bytes(ByteRange& bytes) {
    std::uint64_t length = 0;
    if (!read_varint(length)) return false;
    if (length > static_cast<std::uint64_t>(end_ - at_)) return fail(WireProblem::cut_off);
    bytes = {at_, at_ + length};
    at_ += length;
    return true;
  }

  bool skip(std::ptrdiff_t length) {
    if (end_ - at_ < length) return fail(WireProblem::cut_off);
    at_ += length;
    return true;
  }

  struct Place {
    const std::uint8_t* at = nullptr;
    WireProblem problem = WireProblem::none;
  };

  bool continue_at(Place place) {
    at_ = place.at;
    return place.problem == WireProblem::none || fail(place.problem);
  }

  // Passes over fields up to the end of the group.
  static Place skip_group(const std::uint8_t* begin, const std::uint8_t* end, std::uint32_t number, int depth) {
    if (depth > 100) return {begin, WireProblem::bad_group};
    WireCursor cursor(ByteRange{begin, end});
    while (true) {
      std::uint64_t key = 0, value = 0;
      ByteRange bytes;
      bool goes_on = cursor.read_varint(key);
      if (goes_on && (key > 0xffffffff || key >> 3 == 0)) goes_on = cursor.fail(WireProblem::bad_tag);
      if (!goes_on) return {cursor.at_, cursor.problem_};
      const auto field = static_cast<std::uint32_t>(key >> 3);
      switch (static_cast<WireType>(key & 7)) {
        case WireType::varint: goes_on = cursor.read_varint(value); break;
        case WireType::bytes: goes_on = cursor.read_bytes(bytes); break;
        case WireType::fixed64: goes_on = cursor.skip(8); break;
        case WireType::fixed32: goes_on = cursor.skip(4); break;
        case WireType::group_begin: goes_on = cursor.continue_at(skip_group(cursor.at_, end, field, depth + 1)); break;
        case WireType::group_end: return {cursor.at_, field == number ? WireProblem::none : WireProblem::bad_group};
        default: goes_on = cursor.fail(WireProblem::bad_tag);
      }
      if (!goes_on) return {cursor.at_, cursor.problem_};
    }
  }

  bool fail(WireProblem problem) {
    problem_ = problem;
    return false;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  const std::uint8_t* field_begin_ = nullptr;
  WireProblem problem_ = WireProblem::none;
};

}  // namespace hbmscope::protobuf
