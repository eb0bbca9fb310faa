// Helpers for protobuf messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/read/protobuf_cursor.h"

namespace hbmscope::hlo {

inline std::string text_of(protobuf::ByteRange bytes) {
  return {reinterpret_cast<const char*>(bytes.begin), static_cast<std::size_t>(bytes.end - bytes.begin)};
}

// Calls `visit` for each field. Returns false if the message is damaged, after visiting the fields before the damage.
template <class Visit>
bool for_each_field(protobuf::ByteRange message, const Visit& visit) {
  protobuf::WireCursor cursor(message);
  protobuf::WireField field;
  while (cursor.next_field(field)) visit(field);
  return cursor.problem() == protobuf::WireProblem::none;
}

// A repeated number, packed or not.
inline void add_numbers(const protobuf::WireField& field, std::vector<std::uint64_t>& numbers) {
  if ((field.key & 7) == 0) {
    numbers.push_back(field.varint);
    return;
  }
  protobuf::WireCursor cursor(field.bytes);
  std::uint64_t number = 0;
  while (cursor.at() != field.bytes.end && cursor.read_varint(number)) numbers.push_back(number);
}

inline bool is_field(const protobuf::WireField& field, std::uint32_t number) {
  return field.key >> 3 == number;
}

}  // namespace hbmscope::hlo
