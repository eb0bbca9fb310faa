// What each view shows, as a table of text: the twin that Copy table and Copy as text put on the clipboard.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "app/gui/core/app_state.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

// `rows`: indices of top.rows in the order of the screen.
TextTable table_from_top(const TopAnswer& top, std::span<const std::uint32_t> rows);

// `nodes`: nodes of the tree in the order of the screen; the first column is indented by depth.
TextTable table_from_nodes(const ProfileView& view, const CallTree& tree, std::span<const std::uint32_t> nodes);

// The nodes below `root` that weigh at least `smallest_share` of it, depth first: a flame graph as text.
std::vector<std::uint32_t> nodes_worth_listing(const CallTree& tree, std::uint32_t root, double smallest_share);

TextTable table_from_summary(const ProfileSummary& summary, const ProfileView& view);
TextTable table_from_diff_stacks(const ProfileDiff& diff, const ProfileView& view, std::span<const std::uint32_t> rows);
TextTable table_from_diff_frames(const ProfileDiff& diff, const ProfileView& view, std::span<const std::uint32_t> rows);
TextTable table_from_listing(const SourceListing& listing, const ProfileView& view);
TextTable table_from_series(const std::vector<SeriesPoint>& series);
TextTable table_from_import(const ImportStatistics& import);
// Regions and pieces in the order of addresses, with their blocks' lines of code.
TextTable table_from_heap(const HeapMapAnswer& answer);
// Its columns in the order of time.
TextTable table_from_timeline(const TimelineColumns& timeline);
TextTable table_from_detail(const FrameDetail& detail);

}  // namespace hbmscope::gui
