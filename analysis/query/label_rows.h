// Bytes at a given time by what they are for, and by who holds them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/query/block_labels.h"

namespace hbmscope {

struct CategoryRow {
  Category category = Category::unknown;
  std::uint64_t bytes = 0, blocks = 0;
};
// Whether a block of a stream counts; none given: all do.
using CountsBlock = std::function<bool(std::size_t stream, const LiveBlock& block)>;

// The largest first; heaps that count (analysis/trace/layers.h), and only the given ones, if any are. Empty if the
// trace has no categories.
std::vector<CategoryRow> compute_category_rows(const Trace& trace, const std::vector<StreamState>& states,
                                               const CountsBlock& counts = {});

struct HolderRow {
  std::string name;                       // With all indices alike: "history[*]", "params['layers'][*]['w']".
  std::string holder;                     // "global of train.py"
  Category category = Category::unknown;  // Theirs, if all have the same.
  std::uint64_t bytes = 0, blocks = 0;
};
// The largest first; only blocks with a name.
std::vector<HolderRow> compute_holder_rows(const Trace& trace, const std::vector<StreamState>& states,
                                           const CountsBlock& counts = {});

// "history[*]" of "history[31]"
std::string without_indices(std::string_view path);

}  // namespace hbmscope
