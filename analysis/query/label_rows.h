// Bytes at a given time by what they are for, and by who holds them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/query/chosen_heap.h"

#include "analysis/query/block_labels.h"

namespace hbmscope {

struct CategoryRow {
  Category category = Category::unknown;
  std::uint64_t bytes = 0, blocks = 0;
};
// The largest first; heaps that count (analysis/trace/layers.h), and only the given ones, if any are. Empty if the
// trace has no categories.
std::vector<CategoryRow> compute_category_rows(const Trace& trace, const std::vector<StreamState>& states,
                                               std::span<const HeapKey> heaps = {});

struct HolderRow {
  std::string name;                       // With all indices alike: "history[*]", "params['layers'][*]['w']".
  std::string holder;                     // "global of train.py"
  Category category = Category::unknown;  // Of all of them, if it is the same.
  std::uint64_t bytes = 0, blocks = 0;
};
// The largest first; only blocks with a name.
std::vector<HolderRow> compute_holder_rows(const Trace& trace, const std::vector<StreamState>& states,
                                           std::span<const HeapKey> heaps = {});

// "history[*]" of "history[31]"
std::string without_indices(std::string_view path);

}  // namespace hbmscope
