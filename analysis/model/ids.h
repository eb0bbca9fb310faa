// Row numbers of the columns in a Profile, each a type of its own, so that a location can't be used where a
// function is meant. They are dense (0 .. count-1) and hold only within one Profile; the ids that a file uses
// (any 64-bit number) do not survive the import.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope {

enum class StringId : std::uint32_t { empty = 0 };  // 0 is "" in every StringTable.
enum class FunctionIndex : std::uint32_t { none = 0xffffffff };
enum class LocationIndex : std::uint32_t {};
enum class MappingIndex : std::uint32_t { none = 0xffffffff };
enum class LabelSetIndex : std::uint32_t { none = 0 };  // 0 is the set without a label in every Profile.

template <class Id>
constexpr std::size_t row(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace hbmscope
