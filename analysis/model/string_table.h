// All texts of a profile in one long buffer, each stored once. A million samples name a few thousand functions and
// files, so every other column holds a 4-byte StringId.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/ids.h"

namespace hbmscope {

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
  std::vector<std::uint32_t> slots_;  // Open addressing, id + 1, 0 is free; empty until intern is called.
};

}  // namespace hbmscope
