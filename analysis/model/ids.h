// Row numbers of the columns in a Profile. Each is its own type, so that a location can't be used as a function. They
// are dense (0 .. count-1) and valid only within one Profile. The ids that a file uses (any 64-bit number) are dropped
// at import.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope {

enum class StringId : std::uint32_t { empty = 0 };  // 0 is "" in every StringTable.
enum class FunctionIndex : std::uint32_t { none = 0xffffffff };
enum class LocationIndex : std::uint32_t {};
enum class MappingIndex : std::uint32_t { none = 0xffffffff };
enum class LabelSetIndex : std::uint32_t { none = 0 };  // 0 is the set without labels in every Profile.

template <class Id>
constexpr std::size_t row(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace hbmscope
