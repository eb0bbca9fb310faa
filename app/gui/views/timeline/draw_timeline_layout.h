// Where the lanes of the timeline are, and which part of the axis they show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <imgui.h>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/core/timeline_columns.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {

// One lane: bytes or a share, with 0 at the bottom.
struct Lane {
  ImVec2 from, to;
  double most = 1;
  double least = 0;  // At its foot. What is below is not drawn.

  float height() const { return to.y - from.y; }
  float y_of(double value) const;
  bool holds(float y) const { return y >= from.y && y < to.y; }
  double value_at(float y) const {
    return least + static_cast<double>(to.y - y) / static_cast<double>(height()) * (most - least);
  }
};

// The visible part of the axis and its position on the screen. `source` has the figures; `pixels` has one combined
// column per pixel.
struct TimelinePicture {
  const TimelineColumns& source;
  double begin = 0, end = 0;  // On the axis.
  float left = 0;
  int width = 0;
  std::vector<TimelineColumn> pixels{};
  Lane memory{};
  std::optional<Lane> fits{}, fragmentation{}, growth{}, markers{};
  int marker_rows_left_out = 0;
  std::vector<Lane> counters{}, heaps{};               // As many of the source's as fit.
  std::vector<Lane> devices{};                         // The others, if all are shown; as many as fit.
  std::vector<std::size_t> device_numbers{};           // Which ones, of all.
  std::string device{};                                // The name of the shown one, if all are shown.
  std::size_t first_device = 0, devices_left_out = 0;  // Of all, if they don't all fit.
  std::string folded{};                                // Lanes that the user may unfold: "fragmentation, 3 counters".
  float top = 0, bottom = 0;                           // All lanes together.
  bool has_thin_lanes = true;                          // As in the options.
  bool has_labels = true;  // There is room above them for what is said of the peak and of failures.

  float right() const { return left + static_cast<float>(width); }
  float x_of_axis(double at) const;
  float x_of(double share) const { return x_of_axis(source.axis_at(share)); }  // For a position in `source`.
  double axis_of(float x) const;
  // The number of events before the pixel, and up to its end.
  std::uint64_t position_before(int pixel) const;
  std::uint64_t position_after(int pixel) const;
  // The combined columns of the source in the pixel.
  template <class Value>
  Value under(const std::vector<Value>& columns, int pixel) const {
    const auto [first, behind] = columns_under(pixel);
    Value sum = columns[first];
    for (std::size_t i = first + 1; i < behind; ++i) sum.add(columns[i]);
    return sum;
  }

 private:
  struct ColumnRange {
    std::size_t first = 0, behind = 1;  // [first, behind), not empty.
  };
  ColumnRange columns_under(int pixel) const;
};

struct ByteRange {
  double least = 0, most = 0;
};
struct PictureOptions {
  TimelineSpan seen;
  bool fits_y = false;                 // See TimelineState.
  std::optional<ByteRange> y_range{};  // See TimelineState.
  std::uint64_t most_beside = 0;       // The most bytes that an overlay, the other side or another device shows.
  // Lanes below what is in use may take its room. Folded: only what is left of a plot of `plot_least`.
  bool has_thin_lanes = true;
  bool has_steps = false;   // There is a lane for what each step left behind.
  std::size_t devices = 0;  // Other devices, each with a lane as high as that of the shown heap. No other lanes then.
  std::size_t device = 0;   // The index of the shown one among all of them.
  std::size_t first_device = 0;  // The one at the top, if they don't all fit.
};
inline constexpr float plot_least = 300;
// The end of the y axis, without what is beside it.
std::uint64_t most_on_axis(const TimelineColumns& timeline);
// Uses `part` if it covers the visible span, otherwise `whole`.
TimelinePicture make_picture(const TimelineColumns& whole, const TimelineColumns* part, PictureOptions options,
                             ImVec2 from, ImVec2 to, const Look& look);

// What does not fit in the picture or its overview. Empty if everything fits.
std::string words_not_drawn(const TimelinePicture& picture, bool has_strip);

// How far apart times are that a picture tells apart: a pixel of the visible span, at most a millisecond.
std::int64_t apart_ns(const AppState& state, const TimelineColumns& whole);

// Where a time is on the axis.
double axis_of_moment(const TraceMoment& moment, const TimelineColumns& whole);

// A click in a pixel leads to `position`. Where nothing happens the cursor stays in it, and does not go to the last
// event before it, which may be far outside the picture.
MomentName clicked_moment(const AppState& state, const TimelinePicture& picture, const TimelineColumns& whole,
                          std::uint64_t position, int pixel);

// Change the visible span: to [begin, end); zoomed by a factor (above 1: in) around `at`; panned.
void show_span(const AppState& state, const TimelineColumns& whole, double begin, double end, CommandQueue& commands);
void zoom_span(const AppState& state, const TimelinePicture& picture, const TimelineColumns& whole, double factor,
               double at, CommandQueue& commands);
void pan_span(const AppState& state, const TimelinePicture& picture, const TimelineColumns& whole, double by,
              CommandQueue& commands);

}  // namespace hbmscope::gui
