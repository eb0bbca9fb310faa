// The lanes of the timeline: strips of one picture that share the x axis, each with a scale of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <imgui.h>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {

// One lane: bytes or a share, 0 at its foot.
struct Lane {
  ImVec2 from, to;
  double most = 1;

  float height() const { return to.y - from.y; }
  float y_of(double value) const;
};

// The visible part of the axis, and where it is drawn. `source` has the figures; `pixels` are its columns, one for each
// pixel.
struct TimelinePicture {
  const TimelineColumns& source;
  double begin = 0, end = 0;  // On the axis.
  float left = 0;
  int width = 0;
  std::vector<TimelineColumn> pixels{};
  Lane memory{};
  std::optional<Lane> fits{}, fragmentation{}, markers{};
  std::vector<Lane> counters{}, heaps{};  // The first ones of the source, as many as fit.
  float top = 0, bottom = 0;              // Of all lanes.

  float right() const { return left + static_cast<float>(width); }
  float x_of_axis(double at) const;
  float x_of(double share) const { return x_of_axis(source.axis_at(share)); }  // Of something in `source`.
  double axis_of(float x) const;
  // The number of events before the pixel, and after it.
  std::uint64_t position_before(int pixel) const;
  std::uint64_t position_after(int pixel) const;
  // The sum of the columns of the source in the pixel.
  template <class Value>
  Value under(const std::vector<Value>& columns, int pixel) const {
    const auto [first, behind] = columns_under(pixel);
    Value sum = columns[first];
    for (std::size_t i = first + 1; i < behind; ++i) sum.add(columns[i]);
    return sum;
  }

 private:
  struct ColumnRange {
    std::size_t first = 0, behind = 1;  // One at least, the last one not included.
  };
  ColumnRange columns_under(int pixel) const;
};

// `part` where it covers all that is visible, else `whole`.
TimelinePicture make_picture(const TimelineColumns& whole, const TimelineColumns* part, TimelineSpan seen, ImVec2 from,
                             ImVec2 to, const Look& look, bool fits_y);

// What the picture, or the overview below it, has no room for; empty: nothing.
std::string words_not_drawn(const TimelinePicture& picture, bool has_strip);

// Shows another span of the axis: from here to there; zoomed by a factor (above 1: in) so that `at` stays where it is;
// moved.
void show_span(const AppState& state, const TimelineColumns& whole, double begin, double end, CommandQueue& commands);
void zoom_span(const AppState& state, const TimelinePicture& picture, const TimelineColumns& whole, double factor,
               double at, CommandQueue& commands);
void pan_span(const AppState& state, const TimelinePicture& picture, const TimelineColumns& whole, double by,
              CommandQueue& commands);

void draw_lanes(ImDrawList& draw, const Look& look, const TimelinePicture& picture, bool fits_y);

// Text over data, on a plate in the background colour.
void draw_words(ImDrawList& draw, const Look& look, ImVec2 at, const std::string& words, Role role);

}  // namespace hbmscope::gui
