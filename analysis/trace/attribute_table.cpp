#include "analysis/trace/attribute_table.h"

#include <algorithm>

namespace hbmscope {
namespace {

bool is_before(const Attribute& a, const Attribute& b) {
  return a.allocation < b.allocation;
}

}  // namespace

void AttributeTable::add(const Attribute& attribute) {
  run_begin_.push_back(rows_.size());
  rows_.push_back(attribute);
  while (run_begin_.size() > 1) {
    const std::size_t last = run_begin_.back(), before = run_begin_[run_begin_.size() - 2];
    if (last - before > rows_.size() - last) break;
    const auto at = [&](std::size_t row) { return rows_.begin() + static_cast<std::ptrdiff_t>(row); };
    // Stable: the earlier run has the earlier events.
    std::inplace_merge(at(before), at(last), rows_.end(), is_before);
    run_begin_.pop_back();
  }
}

std::vector<Attribute> AttributeTable::find(std::uint64_t allocation) const {
  std::vector<Attribute> found;
  for (std::size_t run = 0; run < run_begin_.size(); ++run) {
    const std::size_t end = run + 1 < run_begin_.size() ? run_begin_[run + 1] : rows_.size();
    const auto [first, last] =
        std::equal_range(rows_.begin() + static_cast<std::ptrdiff_t>(run_begin_[run]),
                         rows_.begin() + static_cast<std::ptrdiff_t>(end), Attribute{allocation, 0, 0, 0}, is_before);
    found.insert(found.end(), first, last);
  }
  return found;
}

}  // namespace hbmscope
