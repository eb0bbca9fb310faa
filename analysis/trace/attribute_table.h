// What became known of allocations after they were made (attribute records): a tag, a parameter's path, a shape, the
// executable that owns it. Found by the allocation's id, which is never used twice, unlike its address.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hbmscope {

struct Attribute {
  std::uint64_t allocation = 0;      // Its id.
  std::uint64_t event = 0;           // When it was told: the number of the event that told it.
  std::uint32_t key = 0, value = 0;  // Strings.

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

class AttributeTable {
 public:
  void add(const Attribute& attribute);  // Events ascend.

  // All of an allocation, in the order in which they were told: of two with one key the later one counts.
  std::vector<Attribute> find(std::uint64_t allocation) const;
  std::uint64_t size() const { return rows_.size(); }
  std::uint64_t memory_bytes() const { return rows_.capacity() * sizeof(Attribute); }

 private:
  // Rows come in any order of allocations. They are kept as ever longer sorted runs, each at least twice the next, so
  // that to add is cheap at any time and to find is a few binary searches.
  std::vector<Attribute> rows_;
  std::vector<std::size_t> run_begin_;
};

}  // namespace hbmscope
