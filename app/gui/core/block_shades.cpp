#include "app/gui/core/block_shades.h"

namespace hbmscope::gui {

BlockShades::BlockShades(const Definitions& definitions, const BlockLabels& labels, const Coloring& coloring,
                         const TraceColors& colors)
    : definitions_(definitions), labels_(labels), coloring_(&coloring), hues_(&colors.hues_of(coloring.kind)) {
  if (coloring.names != nullptr) return;
  for (std::size_t step = 0; step < coloring.steps->names.size(); ++step)
    names_.push_back({{static_cast<Shade>(step), std::string(coloring.steps->names[step]), 0, 0,
                       coloring.steps->where_of == nullptr ? std::string() : coloring.steps->where_of(step)}});
}

std::uint32_t BlockShades::number_of(const LiveBlock& block) {
  if (coloring_->names == nullptr) return coloring_->steps->step_of(block);
  return number_of_key(coloring_->names->key_of(block, labels_));
}

std::uint32_t BlockShades::number_of(const PhysicalHandle& handle) {
  LiveBlock block;
  block.event = handle.event;
  block.size = handle.size;
  block.stack = handle.stack;
  return number_of(block);
}

std::uint32_t BlockShades::number_of_key(std::uint32_t key) {
  const auto [found, is_new] = number_of_key_.try_emplace(key, 0);
  if (!is_new) return found->second;
  const NamesOfBlocks& names = *coloring_->names;
  std::string name = names.name_of(definitions_, key);
  found->second = number_of_name_.try_emplace(name, static_cast<std::uint32_t>(names_.size())).first->second;
  if (found->second < names_.size()) return found->second;
  const Shade shade = names.shade_of != nullptr ? names.shade_of(key) : hues_->shade_of(name);
  names_.push_back({{shade, std::move(name), 0, 0, names.where_of(definitions_, key)}});
  return found->second;
}

std::vector<ShadeEntry> BlockShades::legend() const {
  return legend_of(names_, coloring_->names != nullptr ? coloring_->names->rest_name : "");
}

}  // namespace hbmscope::gui
