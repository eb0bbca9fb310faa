// What stands over the lanes of the timeline: the axis, the peak, failures, the selected range and the moment.
#pragma once

#include "app/gui/views/timeline/draw_timeline_lanes.h"

namespace hbmscope::gui {

// Failures in one pixel column.
struct FailureColumn {
  float x = 0;
  std::uint64_t count = 0, bytes = 0;  // Of the largest request.
};
// Those that are seen, from left to right.
std::vector<FailureColumn> failure_columns(const TimelinePicture& picture, const std::vector<TimelineMark>& failures);
// More lines than that over a picture hide what it shows: then they are ticks at its foot.
inline constexpr std::size_t failure_lines_max = 12;

void draw_time_axis(ImDrawList& draw, const AppState& state, const TimelinePicture& picture,
                    const TimelineColumns& whole, float y);
void draw_marks(ImDrawList& draw, const Look& look, const TimelinePicture& picture);
// `from`, `to`: on the axis.
void draw_selected_range(ImDrawList& draw, const Look& look, const TimelinePicture& picture, double from, double to);
// With its handle in the scrubber, which is so high and lies above the lanes.
void draw_moment_line(ImDrawList& draw, const Look& look, const TimelinePicture& picture, double at, float scrubber);

// The pinned moment: dashed, with a flag that says so.
void draw_pin_line(ImDrawList& draw, const Look& look, const TimelinePicture& picture, double at, float scrubber);

// A strip of the whole time with what is seen of it.
void draw_strip(ImDrawList& draw, const Look& look, const TimelineColumns& whole, TimelineSpan seen, ImVec2 from,
                ImVec2 to);

// The mark that a click at x means: a failure, a marker or the peak within 4 px, the nearest.
struct SnapTarget {
  std::uint64_t position = 0;
  std::string words;  // "out of memory, asked 3.00 GiB"
};
std::optional<SnapTarget> find_snap_target(const TimelinePicture& picture, const Look& look, float x);

}  // namespace hbmscope::gui
