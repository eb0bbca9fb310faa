// All texts of a profile in one long buffer, each stored once. A million samples name a few thousand functions and
// files, so every other column holds a 4-byte StringId.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hbmscope {

// Row numbers of the columns in a Profile. Each is its own type, so that a location can't be used as a function. They
// are dense (0 .. count-1) and valid only within one Profile. The ids that a file uses (any 64-bit number) are dropped
// at import.
enum class StringId : std::uint32_t { empty = 0 };  // 0 is "" in every StringTable.
enum class FunctionIndex : std::uint32_t { none = 0xffffffff };
enum class LocationIndex : std::uint32_t {};
enum class MappingIndex : std::uint32_t { none = 0xffffffff };
enum class LabelSetIndex : std::uint32_t { none = 0 };  // 0 is the set without labels in every Profile.

template <class Id>
constexpr std::size_t row(Id id) {
  return static_cast<std::size_t>(id);
}

class StringTable {
 public:
  StringTable();

  // The views stay valid until the next append or intern.
  std::string_view text(StringId id) const;
  std::size_t size() const { return ends_.size(); }

  // Appends without checking for duplicates; for readers of files whose own table is unique.
  StringId append(std::string_view text);

  // Returns the id of an equal text, or appends. The first call builds the hash table.
  StringId intern(std::string_view text);
  // The id of an equal text, or StringId::empty if there is none. Linear: for a few lookups per profile.
  StringId find(std::string_view text) const;

  void reserve(std::size_t strings, std::size_t bytes);

 private:
  void insert_slot(StringId id);
  void rehash(std::size_t slots);

  std::string bytes_;
  std::vector<std::uint64_t> ends_;   // The end of each text in bytes_.
  std::vector<std::uint32_t> slots_;  // Open addressing: id + 1, or 0 if free. Made by the first intern.
};

}  // namespace hbmscope
