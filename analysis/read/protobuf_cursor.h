// Walks protobuf's wire format (https://protobuf.dev/programming-guides/encoding/) without ever reading outside of its
// bytes. Used once for the whole message and again for each message inside it.
//
//   while (cursor.next_field(field)) switch (field.key) { case varint_key(7): ... }
//   if (cursor.problem() != WireProblem::none) ...
//
// A key is field number and wire type together. A known field number with another wire type is an unknown field, which
// is skipped, as in protobuf itself.
#pragma once

#include <cstdint>

namespace hbmscope::protobuf {

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

class WireCursor {
 public:
  explicit WireCursor(ByteRange range) : at_(range.begin), end_(range.end) {}

  // False at the end and after a problem. Groups and fixed-size fields are skipped.
  bool next_field(WireField& field) {
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
      case WireType::group_begin: return skip_group(field.key >> 3, 0);
      case WireType::group_end: return fail(WireProblem::bad_group);
    }
    return fail(WireProblem::bad_tag);
  }

  bool read_varint(std::uint64_t& value) {
    const std::uint8_t* at = at_;
    std::uint64_t result = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (at == end_) return fail(WireProblem::cut_off);
      const std::uint8_t byte = *at++;
      result |= static_cast<std::uint64_t>(byte & 0x7f) << (shift & 63);
      if (byte < 0x80) {
        at_ = at;
        value = result;
        return true;
      }
    }
    return fail(WireProblem::long_varint);
  }

  const std::uint8_t* at() const { return at_; }
  const std::uint8_t* field_begin() const { return field_begin_; }  // Where the last field from next_field begins.
  WireProblem problem() const { return problem_; }

 private:
  bool read_bytes(ByteRange& bytes) {
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

  bool skip_group(std::uint32_t number, int depth) {
    if (depth > 100) return fail(WireProblem::bad_group);
    while (true) {
      std::uint64_t key = 0, value = 0;
      ByteRange bytes;
      if (!read_varint(key)) return false;
      if (key > 0xffffffff || key >> 3 == 0) return fail(WireProblem::bad_tag);
      switch (static_cast<WireType>(key & 7)) {
        case WireType::varint:
          if (!read_varint(value)) return false;
          break;
        case WireType::bytes:
          if (!read_bytes(bytes)) return false;
          break;
        case WireType::fixed64:
          if (!skip(8)) return false;
          break;
        case WireType::fixed32:
          if (!skip(4)) return false;
          break;
        case WireType::group_begin:
          if (!skip_group(static_cast<std::uint32_t>(key >> 3), depth + 1)) return false;
          break;
        case WireType::group_end:
          if (key >> 3 != number) return fail(WireProblem::bad_group);
          return true;
        default: return fail(WireProblem::bad_tag);
      }
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
