// What the hand does over the timeline: hover, click, drag, wheel, menu and keys.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "app/gui/look/theme.h"
#include "app/gui/views/timeline/draw_timeline.h"
#include "app/gui/views/timeline/draw_timeline_blocks.h"

namespace hbmscope::gui {

// Shared by the parts of a frame.
struct TimelineFrame {
  const AppState& state;
  TimelineState& view;
  CommandQueue& commands;
  const Look& look;
  const TimelineColumns& whole;
  const TimelinePicture& picture;
  const TimelineOverlay* overlay = nullptr;
  const TraceSteps* steps = nullptr;  // Null: there are too few.
  bool has_bands = false;

  MomentName moment_at(std::uint64_t position) const { return {*state.source()->trace, whole.heap.stream, position}; }
  // After that many events, and at that time on the axis, where there are times.
  MomentName moment_at(std::uint64_t position, double axis) const {
    const auto at = whole.has_times ? std::optional<std::int64_t>(std::llround(axis)) : std::nullopt;
    return {*state.source()->trace, whole.heap.stream, position, at};
  }
  MomentName clicked(std::uint64_t position, int pixel) const {
    return clicked_moment(state, picture, whole, position, pixel);
  }
  int pixel_of(float x) const {
    return static_cast<int>(std::clamp(std::floor(x - picture.left), 0.0F, static_cast<float>(picture.width - 1)));
  }
  void show(double begin, double end) const { show_span(state, whole, begin, end, commands); }
  void zoom(double factor, double at) const { zoom_span(state, picture, whole, factor, at, commands); }
  // Null until they are known.
  const StackedBands* bands() const { return has_bands ? &view.bands : nullptr; }
  std::shared_ptr<const StackBlocks> blocks() const {
    return has_bands ? shown_stack_blocks(state, view.bands) : nullptr;
  }
  // The height of a point of the screen above the foot of the lane of memory, in bytes. Negative if it is elsewhere.
  double bytes_at(float y) const { return picture.memory.holds(y) ? picture.memory.value_at(y) : -1; }
  // The block under a point of the screen.
  std::optional<std::uint32_t> block_under(ImVec2 at) const {
    const auto known = blocks();
    return known ? block_at(*known, view.bands, pixel_of(at.x), bytes_at(at.y)) : std::nullopt;
  }
  void pan(double by) const { pan_span(state, picture, whole, by, commands); }
};

// Another device's lane.
struct DeviceRow {
  const DeviceStack& device;
  const Lane& lane;
  StackedBands& bands;  // May be unknown.
};
// Of the view of all devices; null if it isn't known.
const DeviceStack* find_device(const AppState& state, HeapKey heap);
std::string name_of_device(const AppState& state, HeapKey heap);
std::vector<DeviceRow> device_rows(const TimelineFrame& frame);
std::optional<DeviceRow> device_under(const TimelineFrame& frame, float y);

// The bands of the lanes of other kinds of memory.
std::vector<const StackedBands*> tiers_of(const TimelineFrame& frame);

// Click, drag, wheel and hover over the lanes; over the band with the handle of the current time, in which a drag moves
// the time; over the overview, whose visible part a drag moves, resizes at its edges, or draws anew beside it. Call
// each just after its item.
void handle_lanes(const TimelineFrame& frame, bool hovered, bool active);
void handle_scrubber(const TimelineFrame& frame, bool active);
void handle_strip(const TimelineFrame& frame, bool active, bool hovered);
// `has_pointer`: it is over the lanes.
void handle_keys(const TimelineFrame& frame, bool has_pointer);

}  // namespace hbmscope::gui
