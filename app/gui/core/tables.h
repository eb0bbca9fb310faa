// The contents of each view as a text table, for Copy table and Copy as text.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "app/gui/core/app_state.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

// `nodes`: tree nodes in the order of the screen. The first column is indented by depth.
TextTable table_from_nodes(const ProfileView& view, const CallTree& tree, std::span<const std::uint32_t> nodes);

// The nodes below `root` with at least `smallest_share` of its weight, depth first: a flame graph as text.
std::vector<std::uint32_t> nodes_worth_listing(const CallTree& tree, std::uint32_t root, double smallest_share);

TextTable table_from_log(const log::LogExcerpt& log);
TextTable table_from_listing(const SourceListing& listing, const ProfileView& view);
// Regions and spans in address order, with the lines of code of the blocks.
TextTable table_from_heap(const HeapMapAnswer& answer);
// One row per column of the timeline, in time order.
TextTable table_from_timeline(const TimelineColumns& timeline);
TextTable table_from_detail(const FrameDetail& detail);

}  // namespace hbmscope::gui
