// Groups of files that belong together, as indices into a list of files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hbmscope {

// In the order in which the first file of each was named. Within a group the order stays.
inline void sort_by_first_file(std::vector<std::vector<std::size_t>>& groups) {
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return *std::min_element(a.begin(), a.end()) < *std::min_element(b.begin(), b.end());
  });
}

}  // namespace hbmscope
