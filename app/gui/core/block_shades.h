// The names or steps of the blocks of one stream by a coloring in which a block keeps its colour for its whole life,
// and the shade of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/query/block_labels.h"
#include "analysis/trace/physical_state.h"
#include "app/gui/core/coloring.h"
#include "app/gui/core/heap_spans.h"
#include "app/gui/core/trace_colors.h"

namespace hbmscope::gui {

// The stream and its labels must outlive it. `coloring` must be one of a box (Coloring::is_of_a_box).
class BlockShades {
 public:
  BlockShades(const Definitions& definitions, const BlockLabels& labels, const Coloring& coloring,
              const TraceColors& colors);

  // The number of its name or step; an unseen name gets the next number.
  std::uint32_t number_of(const LiveBlock& block);
  std::uint32_t number_of(const PhysicalHandle& handle);
  Shade shade_of(const LiveBlock& block) { return names_[number_of(block)].entry.shade; }

  // By number. The caller adds up bytes, blocks and weights.
  std::vector<ShadedName>& names() { return names_; }
  const std::vector<ShadedName>& names() const { return names_; }
  // Shades the names with a weight, largest first.
  std::vector<ShadeEntry> legend() const;

 private:
  std::uint32_t number_of_key(std::uint32_t key);

  const Definitions& definitions_;
  const BlockLabels& labels_;
  const Coloring* coloring_;
  const HueTable* hues_;
  std::unordered_map<std::uint32_t, std::uint32_t> number_of_key_;
  std::unordered_map<std::string, std::uint32_t> number_of_name_;
  std::vector<ShadedName> names_;
};

}  // namespace hbmscope::gui
