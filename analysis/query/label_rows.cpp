#include "analysis/query/label_rows.h"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/trace/layers.h"
#include "analysis/units/ascii.h"

namespace hbmscope {
namespace {

// Calls `visit(labels, block)` for each live block that counts.
template <class Visit>
void for_each_block(const Trace& trace, const std::vector<StreamState>& states, const std::vector<BlockLabels>& labels,
                    const CountsBlock& counts, const Visit& visit) {
  const auto counted = find_counted_heaps(trace);
  for (std::size_t i = 0; i < states.size(); ++i)
    for (const LiveBlock& block : states[i].slots())
      if (block.is_live() && block.heap < counted[i].size() && counted[i][block.heap] && (!counts || counts(i, block)))
        visit(labels[i], block);
}

}  // namespace

std::vector<CategoryRow> compute_category_rows(const Trace& trace, const std::vector<StreamState>& states,
                                               const CountsBlock& counts) {
  const std::vector<BlockLabels> labels = labels_of(trace);
  if (std::none_of(labels.begin(), labels.end(), [](const BlockLabels& one) { return one.has_categories(); }))
    return {};
  std::array<CategoryRow, category_count> sums;
  for_each_block(trace, states, labels, counts, [&](const BlockLabels& of, const LiveBlock& block) {
    CategoryRow& row = sums[static_cast<std::size_t>(of.category(block))];
    row.bytes += block.size;
    ++row.blocks;
  });
  std::vector<CategoryRow> rows;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].category = static_cast<Category>(i);
    if (sums[i].blocks > 0) rows.push_back(sums[i]);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return rows;
}

std::vector<HolderRow> compute_holder_rows(const Trace& trace, const std::vector<StreamState>& states,
                                           const CountsBlock& counts) {
  std::map<std::pair<std::string, std::string>, HolderRow> sums;
  const std::vector<BlockLabels> labels = labels_of(trace);
  for_each_block(trace, states, labels, counts, [&](const BlockLabels& of, const LiveBlock& block) {
    const std::string_view name = of.name(block.event);
    if (name.empty()) return;
    const Category category = of.category(block);
    HolderRow& row = sums[{without_indices(name), std::string(of.holder(block.event))}];
    if (row.blocks == 0) row.category = category;
    if (row.category != category) row.category = Category::unknown;
    row.bytes += block.size;
    ++row.blocks;
  });
  std::vector<HolderRow> rows;
  for (auto& [key, row] : sums) {
    row.name = key.first;
    row.holder = key.second;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return rows;
}

std::string without_indices(std::string_view path) {
  std::string text;
  for (std::size_t i = 0; i < path.size();) {
    const bool may_begin = i == 0 || path[i - 1] == '[' || path[i - 1] == '.';
    std::size_t end = i;
    while (end < path.size() && is_digit(path[end])) ++end;
    const bool is_index = may_begin && end > i && (end == path.size() || path[end] == ']' || path[end] == '.');
    if (is_index) {
      text += '*';
      i = end;
    } else {
      text += path[i++];
    }
  }
  return text;
}

}  // namespace hbmscope
