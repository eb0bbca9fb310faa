#include "app/gui/views/timeline/draw_timeline_lanes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "app/gui/core/timeline_markers.h"
#include "app/gui/look/drawing.h"
#include "app/gui/views/timeline/draw_timeline_blocks.h"

namespace hbmscope::gui {
namespace {
// Calls draw(left, right, pixel) for runs of equal pixels: most of a trace is flat.
template <class Same, class Draw>
void for_runs(const TimelinePicture& picture, const Same& same, const Draw& draw) {
  for (std::size_t x = 0; x < picture.pixels.size();) {
    std::size_t end = x + 1;
    while (end < picture.pixels.size() && same(picture.pixels[end], picture.pixels[x])) ++end;
    draw(picture.left + static_cast<float>(x), picture.left + static_cast<float>(end), picture.pixels[x]);
    x = end;
  }
}

// Solid up to the minimum and fainter up to the maximum, so that a spike of one event stays visible.
void draw_band(PixelCanvas& draw, const Lane& lane, float left, float right, const Band& here, ImU32 solid,
               ImU32 spread) {
  const float least = lane.y_of(static_cast<double>(here.least)), most = lane.y_of(static_cast<double>(here.most));
  if (here.least > 0) draw.AddRectFilled({left, std::min(least, lane.to.y - 1)}, {right, lane.to.y}, solid);
  if (here.most > here.least) draw.AddRectFilled({left, std::min(most, least - 1)}, {right, least}, spread);
}
void draw_area(PixelCanvas& draw, const TimelinePicture& picture, const Lane& lane, Band TimelineColumn::*band,
               ImU32 solid, ImU32 spread) {
  const auto same = [band](const TimelineColumn& a, const TimelineColumn& b) { return a.*band == b.*band; };
  for_runs(picture, same, [&](float left, float right, const TimelineColumn& pixel) {
    draw_band(draw, lane, left, right, pixel.*band, solid, spread);
  });
}

// At the most of each pixel, as the bands: from the least to the most, a figure that swings would paint over them.
void draw_line(PixelCanvas& draw, const TimelinePicture& picture, Band TimelineColumn::*band, ImU32 ink) {
  const Lane& lane = picture.memory;
  const auto same = [band](const TimelineColumn& a, const TimelineColumn& b) {
    return (a.*band).most == (b.*band).most;
  };
  std::optional<float> last;
  for_runs(picture, same, [&](float left, float right, const TimelineColumn& pixel) {
    const float y = lane.y_of(static_cast<double>((pixel.*band).most));
    draw.AddRectFilled({left, y - 0.5F}, {right, y + 1.5F}, ink);
    if (last) draw.AddRectFilled({left, std::min(*last, y) - 0.5F}, {left + 1, std::max(*last, y) + 1.5F}, ink);
    last = y;
  });
}

// The same for columns of counters and other heaps.
template <class Value, class Draw>
void for_runs_of(const TimelinePicture& picture, const std::vector<Value>& columns, const Draw& draw) {
  for (int x = 0; x < picture.width;) {
    const Value here = picture.under(columns, x);
    int end = x + 1;
    while (end < picture.width && picture.under(columns, end) == here) ++end;
    draw(picture.left + static_cast<float>(x), picture.left + static_cast<float>(end), here);
    x = end;
  }
}

// A step from one sample to the next; each pixel shows the whole range of values in it.
void draw_counter(PixelCanvas& draw, const Look& look, const TimelinePicture& picture, const TimelineCounter& counter,
                  const Lane& lane) {
  draw.AddRectFilled(lane.from, lane.to, look.role(Role::free));
  for_runs_of(picture, counter.columns, [&](float left, float right, const CounterBand& band) {
    if (!band.is_defined) return;
    const float top = lane.y_of(static_cast<double>(band.most)), foot = lane.y_of(static_cast<double>(band.least));
    draw.AddRectFilled({left, std::min(foot, lane.to.y - 1)}, {right, lane.to.y}, look.role(Role::several, 0.45F));
    draw.AddRectFilled({left, top - 0.5F}, {right, std::max(foot, top + 1) + 0.5F}, look.role(Role::text, 0.85F));
  });
}
void draw_counter_words(ImDrawList& draw, const Look& look, const TimelinePicture& picture,
                        const TimelineCounter& counter, const Lane& lane) {
  const CounterBand last = picture.under(counter.columns, picture.width - 1);
  draw_words(draw, look, {lane.from.x + look.px(6), lane.from.y + look.px(2)},
             counter.name + (last.is_defined ? ": " + text_from_counter(counter, last.most) : std::string()),
             Role::text);
}

// Fragmentation is undefined while nothing is free, which leaves a gap.
void draw_fragmentation(PixelCanvas& draw, const TimelinePicture& picture, ImU32 solid, ImU32 spread) {
  const Lane& lane = *picture.fragmentation;
  const auto same = [](const TimelineColumn& a, const TimelineColumn& b) { return a.fragmentation == b.fragmentation; };
  for_runs(picture, same, [&](float left, float right, const TimelineColumn& pixel) {
    if (!pixel.fragmentation.is_defined()) return;
    const float least = lane.y_of(static_cast<double>(pixel.fragmentation.least)),
                most = lane.y_of(static_cast<double>(pixel.fragmentation.most));
    draw.AddRectFilled({left, std::min(least, lane.to.y - 1)}, {right, lane.to.y}, spread);
    draw.AddRectFilled({left, most - 0.5F}, {right, std::max(least, most + 1) + 0.5F}, solid);
  });
}

template <class Words>
void draw_scale(ImDrawList& draw, const Look& look, const Lane& lane, double step, const Words& words_of) {
  float last = lane.to.y + ImGui::GetTextLineHeight();  // In a low lane two labels would overlap.
  for (double value = std::ceil(lane.least / step) * step; value <= lane.most * 1.0001; value += step) {
    const float y = lane.y_of(value);
    if (value > lane.least) draw.AddLine({lane.from.x, y}, {lane.to.x, y}, look.role(Role::text, 0.10F));
    const std::string words = words_of(value);
    const ImVec2 size = ImGui::CalcTextSize(words.c_str());
    const float at = std::max(y - size.y / 2, lane.from.y - look.px(5));
    if (last - at < size.y * 0.9F) continue;
    last = at;
    draw.AddText({lane.from.x - look.px(6) - size.x, at}, look.role(Role::dim_text), words.c_str());
  }
}
void draw_bytes_scale(ImDrawList& draw, const Look& look, const Lane& lane) {
  double step = 1;
  while ((lane.most - lane.least) / step > std::max(2.0F, lane.height() / look.px(30))) step *= 2;
  // Where the labels of a zoomed axis would all be the same, they count from the lowest, which has as many digits as it
  // takes.
  const double first = std::ceil(lane.least / step) * step;
  const bool are_alike = text_from_bytes(first) == text_from_bytes(first + step);
  draw_scale(draw, look, lane, step, [&](double value) {
    if (!are_alike) return text_from_bytes(value);
    return value > first ? "+" + text_from_bytes(value - first)
                         : texts_from_bytes(std::llround(first), std::llround(first + step)).first;
  });
}

// In a row of a device, whose name stands where labels would be: lines, and figures at them where there is room.
void draw_row_scale(ImDrawList& draw, const Look& look, const Lane& lane) {
  double step = 1;
  while (lane.most / step > std::max(2.0F, lane.height() / look.px(24))) step *= 2;
  const float line = ImGui::GetTextLineHeight();
  for (double value = step; value < lane.most; value += step) {
    const float y = std::floor(lane.y_of(value));
    draw.AddLine({lane.from.x, y}, {lane.to.x, y}, look.role(Role::text, 0.14F));
    if (lane.height() < 1.5F * line || y - lane.from.y < line / 2) continue;
    const std::string words = text_from_bytes(value);
    const ImVec2 at{lane.to.x - ImGui::CalcTextSize(words.c_str()).x - look.px(4), y - line / 2};
    draw_words(draw, look, at, words, Role::dim_text);
  }
}

// Left of a low lane, above the highest value that it can show: a caption never covers data.
void draw_caption(ImDrawList& draw, const Look& look, const Lane& lane, std::string_view title, std::string_view most) {
  const float line = ImGui::GetTextLineHeight(), right = lane.from.x - look.px(6);
  const bool is_low = lane.height() < 1.7F * line;
  float y = std::floor(lane.from.y + std::max(0.0F, (lane.height() - (most.empty() || is_low ? 1 : 2) * line) / 2));
  for (const std::string_view words : {title, most}) {
    if (words == most && is_low) break;
    const std::string shown = shortened(words, gutter_of_lanes(look) - look.px(8));
    draw.AddText({right - ImGui::CalcTextSize(shown.c_str()).x, y},
                 look.role(words == title ? Role::text : Role::dim_text), shown.c_str());
    y += line;
  }
}
// Each heap has its own scale, from 0 to its peak: on the scale of HBM, 128 MiB of VMEM would be less than a pixel.
void draw_heap(PixelCanvas& draw, const Look& look, const TimelinePicture& picture, const TimelineHeap& heap,
               const Lane& lane, const StackedBands* bands, std::optional<Shade> lit) {
  draw.AddRectFilled(lane.from, lane.to, look.role(Role::free));
  if (bands != nullptr) return draw_bands(draw, look, lane, *bands, lit);
  for_runs_of(picture, heap.columns, [&](float left, float right, const Band& band) {
    draw_band(draw, lane, left, right, band, look.role(Role::several), look.role(Role::several, 0.45F));
  });
}

// What each step left behind, up if it grew and down if it shrank: one bar per pixel column, of the step that left
// most in it.
struct GrowthBar {
  float left = 0, right = 0;
  std::int64_t bytes = 0;
};
std::vector<GrowthBar> growth_bars(const TimelinePicture& picture, const TraceSteps& steps) {
  std::vector<GrowthBar> bars;
  for (int x = 0; x < picture.width;) {
    const float left = picture.left + static_cast<float>(x);
    const auto step = steps.find_largest_growth(picture.axis_of(left), picture.axis_of(left + 1));
    const int first = x++;
    if (!step) continue;
    const float end = std::min(picture.right(), picture.x_of_axis(static_cast<double>(steps.span_of(*step).end)));
    while (x < picture.width && picture.left + static_cast<float>(x + 1) <= end) ++x;
    bars.push_back(
        {picture.left + static_cast<float>(first), picture.left + static_cast<float>(x), *steps.growth_of(*step)});
  }
  return bars;
}
// Logarithmic, over three decades: 49 MiB a step is seen beside one step that left 2 GiB.
float height_of_growth(std::int64_t bytes, std::int64_t most) {
  const double share = static_cast<double>(std::abs(bytes)) / static_cast<double>(most);
  return static_cast<float>(std::log2(1 + 1023 * share) / 10);
}
void draw_growth(PixelCanvas& draw, const Look& look, const Lane& lane, const std::vector<GrowthBar>& bars,
                 std::int64_t most) {
  draw.AddRectFilled(lane.from, lane.to, look.role(Role::free));
  const float middle = std::floor((lane.from.y + lane.to.y) / 2);
  draw.AddRectFilled({lane.from.x, middle}, {lane.to.x, middle + 1}, look.role(Role::text, 0.3F));
  for (const GrowthBar& bar : bars) {
    const float height = std::max(1.0F, height_of_growth(bar.bytes, most) * (lane.height() / 2 - 1));
    const float gap = bar.right - bar.left > 4 ? 1.0F : 0.0F;
    const float top = bar.bytes > 0 ? middle - height : middle + 1;
    draw.AddRectFilled({bar.left + gap, top}, {std::max(bar.right, bar.left + gap + 1), top + height},
                       look.role(bar.bytes > 0 ? Role::grown : Role::shrunk));
  }
}
std::int64_t most_of(const std::vector<GrowthBar>& bars) {
  std::int64_t most = 1;
  for (const GrowthBar& bar : bars) most = std::max(most, std::abs(bar.bytes));
  return most;
}

void draw_loss(ImDrawList& draw, const Look& look, const TimelinePicture& picture) {
  const auto is_missing = [](const TimelineColumn& pixel) { return pixel.is_inexact || pixel.is_skipped; };
  const auto same = [&](const TimelineColumn& a, const TimelineColumn& b) { return is_missing(a) == is_missing(b); };
  for_runs(picture, same, [&](float left, float right, const TimelineColumn& pixel) {
    if (is_missing(pixel))
      draw_hatch(draw, look, {left, picture.top}, {right, picture.bottom}, look.role(Role::dim_text, 0.4F));
  });
}

void draw_markers(ImDrawList& draw, const Look& look, const TimelinePicture& picture) {
  const Lane& lane = *picture.markers;
  const float row = marker_row(look);
  for (const TimelineMarker& one : picture.source.stretches) {
    const float from = std::max(picture.left, picture.x_of(one.begin));
    const float to = std::max(from + 1, std::min(picture.right(), picture.x_of(one.end)));
    if (from > picture.right() || to < picture.left) continue;
    const float top = top_of_range(picture, look, one);
    if (top + row > lane.to.y + 1) continue;
    const Role role = one.count > 1 ? Role::several : role_from_hue(static_cast<std::size_t>(one.depth));
    draw.AddRectFilled({from, top}, {to - (to - from > 2 ? 1 : 0), top + row - look.px(2)}, look.role(role, 0.8F));
    const std::string words = one.count > 1 ? text_from_count(static_cast<std::int64_t>(one.count)) : one.name;
    const bool is_numbered = !words.empty() && words.back() >= '0' && words.back() <= '9';  // "ProfilerStep#12"
    if (to - from > look.px(24))
      draw.AddText({from + look.px(3), top - look.px(1)}, look.color(text_on(look.rgb(role))),
                   shortened(words, to - from - look.px(6), is_numbered).c_str());
  }
  for (const TimelineMarker& one : picture.source.instants) {
    const float x = std::floor(picture.x_of(one.begin)) + 0.5F;
    if (x < picture.left || x > picture.right()) continue;
    draw.AddLine({x, picture.memory.from.y}, {x, picture.memory.to.y}, look.role(Role::text, 0.12F));
    draw.AddTriangleFilled({x, lane.from.y}, {x - look.px(4), lane.from.y + look.px(7)},
                           {x + look.px(4), lane.from.y + look.px(7)}, look.role(Role::dim_text));
  }
  for (const TimelineMark& one : picture.source.refusals) {
    const float x = std::floor(picture.x_of(one.at)) + 0.5F;
    if (x < picture.left || x > picture.right()) continue;
    draw.AddLine({x, lane.from.y}, {x, lane.from.y + row - look.px(2)}, look.role(Role::failure), look.px(1));
  }
}

// Through the row of the shown device, as rows of devices have no lane of markers: where outermost spans begin, and
// instants.
void draw_marker_lines(ImDrawList& draw, const Look& look, const TimelinePicture& picture) {
  std::vector<float> lines;
  for (const TimelineMarker& one : picture.source.instants) lines.push_back(picture.x_of(one.begin));
  for (const TimelineMarker& one : picture.source.stretches)
    if (one.depth == 0) lines.push_back(picture.x_of(one.begin));
  std::sort(lines.begin(), lines.end());
  float last = picture.left - look.px(8);
  for (const float exact : lines) {
    const float x = std::floor(exact) + 0.5F;
    if (x < picture.left || x > picture.right() || x - last < look.px(8)) continue;
    draw.AddLine({x, picture.memory.from.y}, {x, picture.memory.to.y}, look.role(Role::text, 0.16F));
    last = x;
  }
}

}  // namespace

void draw_words(ImDrawList& draw, const Look& look, ImVec2 at, const std::string& words, Role role) {
  const ImVec2 size = ImGui::CalcTextSize(words.c_str());
  draw.AddRectFilled({at.x - look.px(3), at.y}, {at.x + size.x + look.px(3), at.y + size.y},
                     look.role(Role::free, 0.8F), look.px(2));
  draw.AddText(at, look.role(role), words.c_str());
}

namespace {

// A line at the least of some pixels that are alike. What is above it is the stack at the most: to make it faint would
// take the colours from every trace that swings faster than the pixels.
void draw_least(PixelCanvas& draw, const Look& look, const TimelinePicture& picture) {
  const auto same = [](const TimelineColumn& a, const TimelineColumn& b) { return a.in_use == b.in_use; };
  for_runs(picture, same, [&](float left, float right, const TimelineColumn& pixel) {
    const float least = picture.memory.y_of(static_cast<double>(pixel.in_use.least)),
                most = picture.memory.y_of(static_cast<double>(pixel.in_use.most));
    if (least - most > 3 && right - left >= 3)
      draw.AddRectFilled({left, least - 1}, {right, least}, look.role(Role::free));
  });
}

// A line at the most of each pixel, with an edge of the background's colour: visible over any band.
void draw_overlay(PixelCanvas& draw, const Look& look, const TimelinePicture& picture, const TimelineOverlay& overlay) {
  const Lane& lane = picture.memory;
  const auto line = [&](float grow, ImU32 ink) {
    std::optional<float> last;
    for (int x = 0; x < picture.width; ++x) {
      const float left = picture.left + static_cast<float>(x);
      const auto here = overlay.at(picture.axis_of(left + 0.5F));
      const auto y = here ? std::optional(lane.y_of(static_cast<double>(here->most))) : std::nullopt;
      if (y) {
        const float top = last ? std::min(*last, *y) : *y, foot = last ? std::max(*last, *y) : *y;
        draw.AddRectFilled({left - grow, top - 1 - grow}, {left + 1 + grow, foot + 1 + grow}, ink);
      }
      last = y;
    }
  };
  line(1, look.role(Role::free));
  line(0, look.role(Role::text));
}

void draw_memory(PixelCanvas& draw, const Look& look, const TimelinePicture& picture, const MemoryBands& known) {
  draw.AddRectFilled(picture.memory.from, picture.memory.to, look.role(Role::free));
  if (known.bands == nullptr || known.bands->known_pixels() < picture.width)
    draw_area(draw, picture, picture.memory, &TimelineColumn::in_use, look.role(Role::several),
              look.role(Role::several, 0.45F));
  if (known.bands != nullptr) {
    draw_bands(draw, look, picture.memory, *known.bands, known.lit);
    if (known.blocks != nullptr) draw_block_edges(draw, look, picture, *known.bands, *known.blocks);
    draw_least(draw, look, picture);
  }
  if (picture.source.knows_requested) draw_line(draw, picture, &TimelineColumn::requested, look.role(Role::rounding));
  if (has_pool_line(picture)) draw_line(draw, picture, &TimelineColumn::pool, look.role(Role::text, 0.8F));
  if (known.overlay != nullptr) draw_overlay(draw, look, picture, *known.overlay);
}

}  // namespace

std::optional<Band> TimelineOverlay::at(double axis) const {
  if (axis < static_cast<double>(what.shown.begin) || axis >= static_cast<double>(what.shown.end)) return std::nullopt;
  const double share = columns->share_of_axis(axis + static_cast<double>(what.shift));
  if (share < 0 || share >= 1 || columns->columns.empty()) return std::nullopt;
  return columns->columns[TimelineColumns::column_of(share, columns->columns.size())].in_use;
}

bool has_pool_line(const TimelinePicture& picture) {
  const auto pool = static_cast<double>(picture.source.pool_most);
  return picture.source.knows_regions && pool <= picture.memory.most && pool >= picture.memory.least;
}

std::string words_of_axis(const TimelinePicture& picture, bool fits_y) {
  const bool is_beyond = picture.source.knows_regions && !has_pool_line(picture);
  std::string words = is_beyond ? "pool " + text_from_bytes(picture.source.pool_most) + ", beyond this scale" : "";
  const Lane& lane = picture.memory;
  if (lane.least > 0)
    words += fmt::format("{}y axis from {}, {} high (Y)", words.empty() ? "" : "; ", text_from_bytes(lane.least),
                         text_from_bytes(lane.most - lane.least));
  else if (lane.most < static_cast<double>(most_on_axis(picture.source)))
    words += fmt::format("{}y axis to {}", words.empty() ? "" : "; ", text_from_bytes(lane.most));
  else if (fits_y)
    words += std::string(words.empty() ? "" : "; ") + "y axis fitted to the visible data (Y)";
  return words;
}

float marker_row(const Look& look) {
  return ImGui::GetTextLineHeight() + look.px(2);
}

float top_of_range(const TimelinePicture& picture, const Look& look, const TimelineMarker& range) {
  const int above = picture.source.instants.empty() ? 0 : 1;  // Instants have the first row.
  return picture.markers->from.y + static_cast<float>(range.depth + above) * marker_row(look);
}

float gutter_of_lanes(const Look& look) {
  return std::max(ImGui::CalcTextSize("growth per step").x, ImGui::CalcTextSize("+1023.9 GiB").x) + look.px(8);
}

void draw_lanes(ImDrawList& draw, PixelCanvas& canvas, const Look& look, const TimelinePicture& picture,
                const MemoryBands& known) {
  const TimelineColumns& source = picture.source;
  canvas.begin({picture.left, picture.top}, {picture.right(), picture.bottom}, look.role(Role::panel));
  if (!source.heap.empty()) draw_memory(canvas, look, picture, known);
  if (picture.fits) {
    canvas.AddRectFilled(picture.fits->from, picture.fits->to, look.role(Role::free));
    draw_area(canvas, picture, *picture.fits, &TimelineColumn::largest_free, look.role(Role::largest_free, 0.75F),
              look.role(Role::largest_free, 0.35F));
  }
  if (picture.fragmentation) {
    canvas.AddRectFilled(picture.fragmentation->from, picture.fragmentation->to, look.role(Role::free));
    draw_fragmentation(canvas, picture, look.role(Role::text, 0.85F), look.role(Role::several, 0.45F));
  }
  const auto bars =
      picture.growth && known.steps != nullptr ? growth_bars(picture, *known.steps) : std::vector<GrowthBar>();
  const std::int64_t most_left = most_of(bars);
  if (picture.growth) draw_growth(canvas, look, *picture.growth, bars, most_left);
  for (std::size_t i = 0; i < picture.counters.size(); ++i)
    draw_counter(canvas, look, picture, source.counters[i], picture.counters[i]);
  for (std::size_t i = 0; i < picture.heaps.size(); ++i)
    draw_heap(canvas, look, picture, source.heaps[i], picture.heaps[i],
              i < known.tiers.size() ? known.tiers[i] : nullptr, known.lit);
  for (std::size_t i = 0; i < picture.devices.size(); ++i) {
    canvas.AddRectFilled(picture.devices[i].from, picture.devices[i].to, look.role(Role::free));
    if (i < known.devices.size() && known.devices[i].bands != nullptr)
      draw_bands(canvas, look, picture.devices[i], *known.devices[i].bands, known.lit);
  }
  canvas.end(draw);

  const auto caption_device = [&](const Lane& lane, const DeviceLane& device) {
    draw_caption(draw, look, lane, device.name, "peak " + text_from_bytes(device.peak));
    draw_row_scale(draw, look, lane);
  };
  if (!picture.devices.empty())
    caption_device(picture.memory, known.shown);
  else if (!source.heap.empty())
    draw_bytes_scale(draw, look, picture.memory);
  if (picture.fits) draw_caption(draw, look, *picture.fits, "largest free", {});
  if (picture.fragmentation) draw_caption(draw, look, *picture.fragmentation, "fragmentation", {});
  if (picture.growth)
    draw_caption(draw, look, *picture.growth, "step growth",
                 bars.empty() ? std::string() : text_from_bytes(static_cast<std::uint64_t>(most_left)) + ", log");
  for (std::size_t i = 0; i < picture.counters.size(); ++i) {
    draw_counter_words(draw, look, picture, source.counters[i], picture.counters[i]);
    // Next to a heap, counter lanes are too low for a scale.
    if (source.heap.empty() && source.counters[i].is_bytes) draw_bytes_scale(draw, look, picture.counters[i]);
  }
  for (std::size_t i = 0; i < picture.heaps.size(); ++i)
    draw_caption(draw, look, picture.heaps[i], source.heaps[i].name, "peak " + text_from_bytes(source.heaps[i].peak));
  for (std::size_t i = 0; i < std::min(picture.devices.size(), known.devices.size()); ++i)
    caption_device(picture.devices[i], known.devices[i]);
  if (picture.markers) draw_markers(draw, look, picture);
  if (!picture.devices.empty()) draw_marker_lines(draw, look, picture);
  draw_loss(draw, look, picture);
}

}  // namespace hbmscope::gui
