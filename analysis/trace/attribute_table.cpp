#include "analysis/trace/attribute_table.h"

#include <algorithm>

#include "collector/wire/wire.h"

namespace hbmscope {

// An attribute follows its allocation. Allocations from before the stream may get attributes at any time.
std::vector<Attribute> AttributeTable::find(std::uint64_t allocation) const {
  const std::uint64_t since = allocation == wire::before_the_stream ? 0 : allocation;
  auto row = std::lower_bound(rows_.begin(), rows_.end(), since,
                              [](const Attribute& attribute, std::uint64_t event) { return attribute.event < event; });
  std::vector<Attribute> found;
  std::copy_if(row, rows_.end(), std::back_inserter(found),
               [&](const Attribute& attribute) { return attribute.allocation == allocation; });
  return found;
}

}  // namespace hbmscope
