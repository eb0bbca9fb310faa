#include "app/gui/views/timeline/draw_timeline_stack.h"

#include <algorithm>

#include "app/gui/core/heap_raster.h"

namespace hbmscope::gui {

bool StackedBands::update(std::shared_ptr<const StackCourse> course, TimelineSpan seen, int width) {
  if (course == nullptr || seen.empty()) return false;  // All events of a trace may have one time.
  if (course == course_ && seen == seen_ && pixels_.size() == static_cast<std::size_t>(width)) return true;
  course_ = std::move(course);
  seen_ = seen;
  pixels_ = course_->columns(seen, static_cast<std::size_t>(std::max(1, width)));
  known_pixels_ = static_cast<int>(pixels_.size());
  // A running job's bands are always some pixels late, and would flicker at their end.
  constexpr int unseen_share = 50;
  const double known = static_cast<double>(course_->span().end - seen.begin) / static_cast<double>(seen.length());
  if (const int end = static_cast<int>(std::clamp(known, 0.0, 1.0) * known_pixels_) + 1;
      known_pixels_ - end > known_pixels_ / unseen_share) {
    std::fill(pixels_.begin() + end, pixels_.end(), Composition());
    known_pixels_ = end;
  }
  order_ = course_->query().colors->stack_order(course_->query().coloring);
  return true;
}

std::optional<Shade> StackedBands::shade_at(int pixel, double bytes) const {
  if (pixel < 0 || static_cast<std::size_t>(pixel) >= pixels_.size() || bytes < 0) return std::nullopt;
  double below = 0;
  for (const Shade shade : order_) {
    below += static_cast<double>(pixels_[static_cast<std::size_t>(pixel)].bytes[shade]);
    if (bytes < below) return shade;
  }
  return std::nullopt;
}

std::uint64_t StackedBands::top_of(int pixel, Shade shade, bool is_lit) const {
  const Composition& column = pixels_[static_cast<std::size_t>(pixel)];
  std::uint64_t top = is_lit ? column.lit[shade] : column.bytes[shade];
  for (const Shade below : order_) {
    if (below == shade) break;
    top += column.bytes[below];
  }
  return top;
}

std::string StackedBands::name_of(Shade shade) const {
  const Coloring& row = row_of(course_->query().coloring);
  const HueTable& hues = course_->query().colors->hues_of(row.kind);
  if (shade < hue_count && !hues.names[shade].empty()) return hues.names[shade];
  if (row.steps != nullptr && shade < row.steps->names.size()) return std::string(row.steps->names[shade]);
  if (shade == several_shade || row.names == nullptr)
    return row.names != nullptr ? std::string(row.names->rest_name) : "";
  return row.names->name_of_shade != nullptr ? std::string(row.names->name_of_shade(shade)) : "";
}

void draw_bands(PixelCanvas& draw, const Look& look, const Lane& lane, const StackedBands& bands,
                std::optional<Shade> lit) {
  const std::vector<Composition>& pixels = bands.pixels();
  const HeapColoring coloring = bands.course().query().coloring;
  std::vector<std::uint64_t> below(pixels.size());
  for (const Shade shade : bands.order()) {
    const Color color = color_of_shade(look.theme, coloring, shade);
    const ImU32 full = look.color(color), dim = look.color(color, 0.3F);
    const auto band = [&](std::size_t x, std::size_t end, std::uint64_t foot, std::uint64_t bytes, ImU32 fill) {
      if (bytes == 0) return;
      const float to = lane.y_of(static_cast<double>(foot));
      float from = lane.y_of(static_cast<double>(foot + bytes));
      if (foot == 0 && lane.least == 0) from = std::min(from, to - 1);  // Little is not nothing.
      draw.AddRectFilled({lane.from.x + static_cast<float>(x), from}, {lane.from.x + static_cast<float>(end), to},
                         fill);
    };
    for (std::size_t x = 0; x < pixels.size();) {
      const std::uint64_t bytes = pixels[x].bytes[shade], bright = pixels[x].lit[shade], foot = below[x];
      const auto is_same = [&](std::size_t i) {
        return pixels[i].bytes[shade] == bytes && pixels[i].lit[shade] == bright && below[i] == foot;
      };
      std::size_t end = x;
      for (; end < pixels.size() && is_same(end); ++end) below[end] += bytes;
      const std::uint64_t shown = lit && *lit != shade ? 0 : bright;
      band(x, end, foot, shown, full);
      band(x, end, foot + shown, bytes - shown, dim);
      x = end;
    }
  }
}

}  // namespace hbmscope::gui
