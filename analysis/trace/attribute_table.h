// Facts about allocations that became known after the allocation (attribute records): a tag, a parameter's path, a
// shape, the executable that owns it. The key is the allocation's id, which is never reused, unlike its address.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model/shared_log.h"

namespace hbmscope {

struct Attribute {
  std::uint64_t allocation = 0;      // Its id.
  std::uint64_t event = 0;           // The number of the event that reported it.
  std::uint32_t key = 0, value = 0;  // Strings.
  std::uint32_t stack = 0;           // Of the allocation, like its size; 0: unknown, or not written here.
  std::uint64_t size = 0;

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

// A copy shares the existing rows and does not see later ones.
class AttributeTable {
 public:
  void add(const Attribute& attribute) { rows_.push_back(attribute); }  // Events must ascend.

  // All attributes of an allocation, in event order; if two have the same key, the later one is valid. Scans all
  // attributes added since the allocation: five milliseconds for a million.
  std::vector<Attribute> find(std::uint64_t allocation) const;
  const SharedLog<Attribute>& rows() const { return rows_; }
  std::uint64_t size() const { return rows_.size(); }
  std::uint64_t memory_bytes() const { return rows_.capacity() * sizeof(Attribute); }

 private:
  SharedLog<Attribute> rows_;
};

}  // namespace hbmscope
