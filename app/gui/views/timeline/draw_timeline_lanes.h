// The lanes of the timeline: strips that share the x axis, each with its own scale.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <imgui.h>

#include "app/gui/core/timeline_columns.h"
#include "app/gui/core/trace_steps.h"
#include "app/gui/look/pixel_canvas.h"
#include "app/gui/look/theme.h"
#include "app/gui/views/timeline/draw_timeline_layout.h"

namespace hbmscope::gui {

class StackedBands;
class StackBlocks;

// Another course over the lane of memory.
struct TimelineOverlay {
  Overlay what;
  std::shared_ptr<const TimelineColumns> columns;

  // Bytes in use at a point of the timeline's own axis; nothing where it has none.
  std::optional<Band> at(double axis) const;
};

// Another device of the trace: its bands on the shown axis, null if they are not known yet.
struct DeviceLane {
  std::string name;
  std::uint64_t peak = 0;
  const StackedBands* bands = nullptr;
};

// What is known of the lane of memory, and of the lanes of other kinds of memory below it.
struct MemoryBands {
  const StackedBands* bands = nullptr;  // Null until they are known; then what is in use is one area.
  const StackBlocks* blocks = nullptr;  // Those inside the bands, if known.
  // As TimelinePicture::heaps, or fewer. Null if they are not known, or not divided.
  std::vector<const StackedBands*> tiers{};
  std::optional<Shade> lit{};                // See draw_bands().
  const TimelineOverlay* overlay = nullptr;  // Null: nothing is laid over it.
  const TraceSteps* steps = nullptr;         // Null: not known.
  // As TimelinePicture::devices; and the shown one.
  std::vector<DeviceLane> devices{};
  DeviceLane shown{};
};
void draw_lanes(ImDrawList& draw, PixelCanvas& canvas, const Look& look, const TimelinePicture& picture,
                const MemoryBands& known);
bool has_pool_line(const TimelinePicture& picture);
// What the y axis leaves out, and how it was chosen, if it was. Empty if there is nothing to say.
std::string words_of_axis(const TimelinePicture& picture, bool fits_y);
// The width of the captions and scales left of the lanes.
float gutter_of_lanes(const Look& look);
// Of the lane of markers: the height of its rows, and where the row of a range is.
float marker_row(const Look& look);
float top_of_range(const TimelinePicture& picture, const Look& look, const TimelineMarker& range);

// Text over data, on a plate of the background colour.
void draw_words(ImDrawList& draw, const Look& look, ImVec2 at, const std::string& words, Role role);

}  // namespace hbmscope::gui
