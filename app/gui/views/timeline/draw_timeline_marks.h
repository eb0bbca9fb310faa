// Draws over the timeline's lanes: axis, peak, failures, selected range, current and pinned time.
#pragma once

#include "app/gui/views/timeline/draw_timeline_lanes.h"

namespace hbmscope::gui {

// Failures in one pixel column.
struct FailureColumn {
  float x = 0;
  std::uint64_t count = 0, bytes = 0;  // Bytes of the largest request.
  std::uint64_t position = 0;          // Of the first.
};
// Visible failures, from left to right.
std::vector<FailureColumn> failure_columns(const TimelinePicture& picture, const std::vector<TimelineMark>& failures);
// With more failures than this, lines would hide the picture; they become ticks at its bottom.
inline constexpr std::size_t failure_lines_max = 12;

void draw_time_axis(ImDrawList& draw, const AppState& state, const TimelinePicture& picture,
                    const TimelineColumns& whole, float y);
// The height of the labels above the lanes, with the handle of the time between them.
float label_height(const Look& look);
// What stands above the lanes: failures, the peak, how long the selected range is.
struct MarkLabel {
  ImVec2 from, to;
  std::optional<std::uint64_t> position;  // Where a click leads.
  std::string tip;
};
struct RangeLabel {
  TimelineSpan span;  // Empty: nothing is selected.
  std::string words;
};
std::vector<MarkLabel> draw_marks(ImDrawList& draw, const Look& look, const TimelinePicture& picture,
                                  const RangeLabel& range);
// `from`, `to`: on the axis.
void draw_selected_range(ImDrawList& draw, const Look& look, const TimelinePicture& picture, double from, double to);
// With a handle in the scrubber, a band of height `scrubber` above the lanes.
void draw_moment_line(ImDrawList& draw, const Look& look, const TimelinePicture& picture, double at, float scrubber);

// The pinned time: dashed, with a flag.
void draw_pin_line(ImDrawList& draw, const Look& look, const TimelinePicture& picture, double at, float scrubber);

// Flags in the scrubber, with their notes under the pointer.
void draw_bookmark_flags(ImDrawList& draw, const AppState& state, const TimelinePicture& picture,
                         const TimelineColumns& whole, float scrubber);

// What the overview of the whole trace marks, on its axis.
struct StripMarks {
  TimelineSpan seen = {};   // Empty: all of it.
  TimelineSpan range = {};  // Empty: none is selected.
  std::optional<double> now = {};
};
void draw_strip(ImDrawList& draw, PixelCanvas& canvas, const Look& look, const TimelineColumns& whole, StripMarks marks,
                ImVec2 from, ImVec2 to);

// What a click at x snaps to: the nearest failure, marker or peak within 4 px.
struct SnapTarget {
  std::uint64_t position = 0;
  std::string words;  // "out of memory, requested 3.00 GiB"
};
std::optional<SnapTarget> find_snap_target(const TimelinePicture& picture, const Look& look, float x);

// The range in the lane of markers at that point; null: none, or several that are too short to be told apart.
const TimelineMarker* find_range_marker(const TimelinePicture& picture, const Look& look, ImVec2 point);

}  // namespace hbmscope::gui
