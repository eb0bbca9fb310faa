#include "app/gui/core/heap_raster.h"

#include <algorithm>
#include <cmath>

namespace hbmscope::gui {
namespace {

// cividis, from few to many (the colours of size, age and lifetime in WINDOW.md).
// Steps of one scale, near viridis: told apart under protan, deutan and tritan vision, and in their order of brightness.
constexpr std::array<Color, step_count> steps_dark{{{0x40, 0x3F, 0x82},
                                                    {0x5B, 0x60, 0xD1},
                                                    {0x0A, 0x8C, 0x78},
                                                    {0x3D, 0xBE, 0x8C},
                                                    {0x9F, 0xC6, 0x4D},
                                                    {0xFD, 0xE7, 0x25}}};
constexpr std::array<Color, step_count> steps_light{{{0xD0, 0xDA, 0x1E},
                                                     {0x94, 0xA8, 0x66},
                                                     {0x57, 0x9F, 0x96},
                                                     {0x3C, 0x6C, 0x71},
                                                     {0x54, 0x39, 0xA8},
                                                     {0x54, 0x1E, 0x43}}};

// Sums up the bytes of one pixel while spans arrive in address order. The unit is pixels, so the total is 1.
class CellSum {
 public:
  void add(const HeapSpan& span, double share, double waste, bool goes_on_before, bool goes_on_after) {
    if (spans_ == 0) {
      first_goes_on_ = goes_on_before;
      first_ = {&span, share};
    }
    ++spans_;
    last_goes_on_ = goes_on_after;
    last_ = {&span, share};
    if (span.kind == SpanKind::block) {
      by_shade_[span.shade] += static_cast<float>(share);
      in_use_ += share - waste;
      waste_ += waste;
      if (span.is_pending) pending_ += share;
    } else if (span.kind == SpanKind::free) {
      free_ += share;
    } else {
      not_identified_ += share;
    }
  }

  bool empty() const { return spans_ == 0; }
  bool holds_one() const { return spans_ == 1; }
  const HeapSpan& only() const { return *first_.span; }
  // If each of two spans continues in a neighbouring pixel, the larger one gets the pixel; on a tie, free memory does.
  const HeapSpan* larger_of_two() const {
    if (spans_ != 2 || !first_goes_on_ || !last_goes_on_) return nullptr;
    if (first_.share == last_.share) return first_.span->kind == SpanKind::free ? first_.span : last_.span;
    return first_.share > last_.share ? first_.span : last_.span;
  }

  MapCell bar(int height, bool is_ordered) const {
    MapCell cell;
    const double in_use = in_use_ + waste_, all = in_use + free_ + not_identified_;
    if (in_use <= 0) {
      cell.fill = not_identified_ > free_ ? MapCell::Fill::not_identified : MapCell::Fill::spans;
      return cell;
    }
    cell.fill = MapCell::Fill::spans;
    int used = std::max(1, static_cast<int>(std::lround(in_use / all * height)));
    // Memory that is not identified is not called free, but it isn't in use either.
    const double rest = free_ + not_identified_;
    if (rest >= 0.05 * all) used = std::min(used, height - 1);
    const int waste = std::min(used - 1, static_cast<int>(std::lround(waste_ / all * height)));
    cell.use = static_cast<std::uint8_t>(used - waste);
    cell.waste = static_cast<std::uint8_t>(waste);
    cell.look = is_ordered ? median() : majority();
    if (pending_ * 2 >= in_use) cell.look |= MapCell::is_pending;
    return cell;
  }

 private:
  Shade majority() const {
    const float half = static_cast<float>(in_use_ + waste_) / 2;
    for (Shade shade = 0; shade < shade_count; ++shade)
      if (by_shade_[shade] >= half) return shade;
    return several_shade;
  }
  Shade median() const {
    const float half = static_cast<float>(in_use_ + waste_) / 2;
    float below = 0;
    for (Shade shade = 0; shade < step_count; ++shade)
      if ((below += by_shade_[shade]) >= half) return shade;
    return several_shade;  // Most of it is unknown.
  }

  struct End {
    const HeapSpan* span = nullptr;
    double share = 0;
  };
  std::array<float, shade_count> by_shade_{};
  double in_use_ = 0, waste_ = 0, free_ = 0, not_identified_ = 0, pending_ = 0;
  int spans_ = 0;
  bool first_goes_on_ = false, last_goes_on_ = false;
  End first_, last_;
};

MapCell full_cell(const HeapSpan& span, int height) {
  MapCell cell;
  cell.fill = span.kind == SpanKind::not_identified ? MapCell::Fill::not_identified : MapCell::Fill::spans;
  if (span.kind == SpanKind::free && span.ends == SpanEnd::lower) cell.look = MapCell::for_lower;
  if (span.kind == SpanKind::free && span.ends == SpanEnd::upper) cell.look = MapCell::for_upper;
  if (span.kind != SpanKind::block) return cell;
  cell.use = static_cast<std::uint8_t>(height);
  cell.look = static_cast<std::uint8_t>(span.shade | (span.is_pending ? MapCell::is_pending : 0));
  return cell;
}

// Addresses and sizes are below 2^63, and converting a signed number to double takes one instruction.
double number(std::uint64_t value) {
  return static_cast<double>(static_cast<std::int64_t>(value));
}
// Avoids the function call of std::ceil on builds that can't assume the processor's rounding instruction.
std::int64_t rounded_up(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return whole + (static_cast<double>(whole) < value ? 1 : 0);
}
// Smaller parts of a pixel are rounding errors.
constexpr double nothing = 1e-9;

// Writes the visible cells of one region.
class RegionDrawer {
 public:
  RegionDrawer(std::vector<MapCell>& cells, const HeapMapView& view, const HeapSpans& map, const SpanRegion& region,
               std::int64_t begin_px, std::int64_t end_px)
      : cells_(cells), view_(view), map_(map), region_(region), begin_px_(begin_px) {
    height_ = std::min(255, view.pitch - 1);
    scale_ = 1 / view.bytes_per_px;
    first_ = std::max<std::int64_t>(0, view.origin - begin_px);
    last_ = std::min(end_px, view.origin + static_cast<std::int64_t>(cells.size())) - begin_px;
  }

  void draw() {
    if (first_ >= last_) return;
    const auto spans_begin = map_.spans.begin() + static_cast<std::ptrdiff_t>(region_.first);
    const auto spans_end = map_.spans.begin() + static_cast<std::ptrdiff_t>(region_.last);
    const auto from =
        region_.range.begin + static_cast<std::uint64_t>(static_cast<double>(first_) * view_.bytes_per_px);
    auto span = std::upper_bound(spans_begin, spans_end, from,
                                 [](std::uint64_t at, const HeapSpan& one) { return at < one.end(); });
    cell_ = first_;
    for (; span != spans_end; ++span) {
      const double begin = number(span->begin - region_.range.begin) * scale_;
      const double end = begin + number(span->size) * scale_;
      if (begin >= static_cast<double>(last_)) break;
      add(*span, begin, end);
    }
    flush();
  }

 private:
  void add(const HeapSpan& span, double begin, double end) {
    const double waste_begin = end - number(span.waste) * scale_;
    auto first = static_cast<std::int64_t>(begin);
    if (first > cell_) {
      flush();
      cell_ = first;
    } else {
      first = cell_;
    }
    // With a million spans, nearly all are tiny: within one pixel, and smaller than it.
    if (end < static_cast<double>(first + 1) && begin > static_cast<double>(first) + nothing) {
      sum_.add(span, end - begin, std::max(0.0, end - std::max(begin, waste_begin)), false, false);
      return;
    }
    const auto whole_begin = rounded_up(begin - nothing);
    const auto whole_end = static_cast<std::int64_t>(end + nothing);
    if (whole_end > whole_begin && whole_end > first_) {
      if (whole_begin > first) add_part(span, begin, static_cast<double>(whole_begin), waste_begin, false, true);
      if (whole_begin >= cell_) flush();
      fill(span, std::max(whole_begin, first_), std::min(whole_end, last_), waste_begin, whole_begin);
      cell_ = whole_end;
      if (end - static_cast<double>(whole_end) > nothing)
        add_part(span, static_cast<double>(whole_end), end, waste_begin, true, false);
      return;
    }
    // It lies in one pixel or across the border of two.
    const double border = static_cast<double>(first + 1);
    if (end <= border + nothing) {
      add_part(span, begin, end, waste_begin, false, false);
      return;
    }
    if (first >= first_) add_part(span, begin, border, waste_begin, false, true);
    flush();
    cell_ = first + 1;
    add_part(span, border, end, waste_begin, true, false);
  }

  void add_part(const HeapSpan& span, double begin, double end, double waste_begin, bool before, bool after) {
    const double waste = std::max(0.0, end - std::max(begin, waste_begin));
    sum_.add(span, end - begin, span.kind == SpanKind::block ? waste : 0, before, after);
  }

  void put(std::int64_t cell, MapCell what) {
    if (cell >= first_ && cell < last_) cells_[static_cast<std::size_t>(begin_px_ + cell - view_.origin)] = what;
  }

  void flush() {
    if (sum_.empty()) return;
    if (const HeapSpan* larger = sum_.larger_of_two()) {
      put(cell_, full_cell(*larger, height_));
    } else if (sum_.holds_one()) {
      put(cell_, full_cell(sum_.only(), height_));
    } else {
      put(cell_, sum_.bar(height_, map_.is_ordered()));
    }
    sum_ = {};
  }

  void fill(const HeapSpan& span, std::int64_t begin, std::int64_t end, double waste_begin, std::int64_t span_begin) {
    if (begin >= end) return;
    MapCell cell = full_cell(span, height_);
    const auto at = cells_.begin() + static_cast<std::ptrdiff_t>(begin_px_ - view_.origin);
    std::fill(at + begin, at + end, cell);
    if (span.kind == SpanKind::free) {
      // The seam is left out if the row below continues the same span.
      cell.fill = MapCell::Fill::free_inside;
      if (end - view_.width > begin) std::fill(at + begin, at + (end - view_.width), cell);
      return;
    }
    if (span.kind != SpanKind::block) return;
    if (begin == span_begin && end - begin >= 4) (at + begin)->look |= MapCell::is_edge;
    const auto waste_from = std::max(begin, static_cast<std::int64_t>(std::lround(waste_begin)));
    for (std::int64_t i = waste_from; i < end; ++i) {
      (at + i)->waste = (at + i)->use;
      (at + i)->use = 0;
    }
  }

  std::vector<MapCell>& cells_;
  const HeapMapView& view_;
  const HeapSpans& map_;
  const SpanRegion& region_;
  const std::int64_t begin_px_;
  int height_ = 0;
  double scale_ = 1;
  std::int64_t first_ = 0, last_ = 0;  // The visible pixels of the region.
  std::int64_t cell_ = 0;              // The pixel that sum_ belongs to.
  CellSum sum_;
};

// All colours that a pixel can have, so that the inner loop only needs a lookup.
struct Inks {
  Inks(const HeapSpans& map, Theme theme) {
    for (Shade shade = 0; shade < shade_count; ++shade) {
      const Color color = color_of_shade(theme, map.coloring, shade);
      fill[shade] = pixel_from_color(color);
      edge[shade] = pixel_from_color(mix(color, {0, 0, 0}, 0.45));
    }
    free = pixel_from_color(color_of(theme, Role::free));
    panel = pixel_from_color(color_of(theme, Role::panel));
    one_end = pixel_from_color(color_of(theme, Role::dim_text));
    dots = pixel_from_color(mix(color_of(theme, Role::no_memory), color_of(theme, Role::text), 0.25));
    not_identified = pixel_from_color(color_of(theme, Role::not_identified));
  }
  std::array<Pixel, 16> fill{}, edge{};
  Pixel free = 0, panel = 0, dots = 0, not_identified = 0, one_end = 0;
};

// `up`: distance from the bottom of the row. Hatching is at 45 degrees, two free pixels out of five; stripes have the
// same width.
Pixel pixel_of(const MapCell& cell, const Inks& inks, std::size_t x, int y, int up, int height) {
  switch (cell.fill) {
    case MapCell::Fill::nothing: return (x % 4 == 1 && y % 4 == 1) ? inks.dots : inks.panel;
    case MapCell::Fill::not_identified:
      return (x + static_cast<std::size_t>(y)) % 3 == 0 ? inks.free : inks.not_identified;
    default: break;
  }
  const std::size_t shade = cell.look & MapCell::shade_mask;
  if (up < cell.use) {
    if ((cell.look & MapCell::is_pending) != 0 && y % 4 >= 2) return inks.free;
    return (cell.look & MapCell::is_edge) != 0 ? inks.edge[shade] : inks.fill[shade];
  }
  if (up < cell.use + cell.waste) return (x + static_cast<std::size_t>(y)) % 5 < 2 ? inks.free : inks.fill[shade];
  if ((cell.look & MapCell::for_lower) != 0 && up == 0) return inks.one_end;
  if ((cell.look & MapCell::for_upper) != 0 && up == height - 1) return inks.one_end;
  return inks.free;
}

}  // namespace

Color color_of_shade(Theme theme, HeapColoring coloring, Shade shade) {
  if (shade == several_shade) return color_of(theme, Role::several);
  const Coloring& row = row_of(coloring);
  if (row.role_of != nullptr) return color_of(theme, row.role_of(shade));
  if (row.is_ordered)
    return (theme == Theme::dark ? steps_dark : steps_light)[std::min<std::size_t>(shade, step_count - 1)];
  return color_of(theme, role_from_hue(shade));
}

const std::vector<Pixel>& HeapRaster::draw(const HeapSpans& map, const HeapMapView& view, Theme theme,
                                           std::span<const AddressRange> hits, bool has_contours) {
  draw_cells(map, view);
  draw_pixels(map, view, theme);
  hit_rows_.assign(static_cast<std::size_t>(view.rows), false);
  if (!hits.empty()) draw_hits(map, view, theme, hits, has_contours);
  draw_gone(map, view, theme);
  draw_largest_free(map, view, theme);
  return pixels_;
}

void HeapRaster::draw_cells(const HeapSpans& map, const HeapMapView& view) {
  cells_.assign(static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.rows), MapCell{});
  const HeapLine line(map, view);
  const std::int64_t end = view.origin + static_cast<std::int64_t>(cells_.size());
  for (std::size_t i = line.region_at_or_after(std::max<std::int64_t>(0, view.origin));
       i < map.regions.size() && line.begin_px(i) < end; ++i)
    RegionDrawer(cells_, view, map, map.regions[i], line.begin_px(i), line.end_px(i)).draw();
}

void HeapRaster::draw_pixels(const HeapSpans& map, const HeapMapView& view, Theme theme) {
  const Inks inks(map, theme);
  const auto width = static_cast<std::size_t>(view.width);
  pixels_.resize(width * static_cast<std::size_t>(view.height()));
  Pixel* out = pixels_.data();
  for (int row = 0; row < view.rows; ++row) {
    const MapCell* const cells = cells_.data() + static_cast<std::size_t>(row) * width;
    for (int y = 0; y + 1 < view.pitch; ++y, out += width) {
      const int up = view.pitch - 2 - y;
      for (std::size_t x = 0; x < width; ++x) {
        const MapCell& cell = cells[x];
        // Most pixels are one of these two.
        if (cell.fill >= MapCell::Fill::spans && up >= cell.use + cell.waste && cell.look < MapCell::for_lower)
          out[x] = inks.free;
        else if (cell.fill >= MapCell::Fill::spans && up < cell.use && cell.look < MapCell::is_edge)
          out[x] = inks.fill[cell.look];
        else
          out[x] = pixel_of(cell, inks, x, row * view.pitch + y, up, view.pitch - 1);
      }
    }
    for (std::size_t x = 0; x < width; ++x)
      out[x] = cells[x].fill == MapCell::Fill::free_inside ? inks.free : inks.panel;
    out += width;
  }
}

// With two ends, the largest of each.
void HeapRaster::draw_largest_free(const HeapSpans& map, const HeapMapView& view, Theme theme) {
  const HeapLine line(map, view);
  const auto outline = [&](const std::optional<std::size_t>& largest) {
    if (!largest) return;
    const HeapSpan& span = map.spans[*largest];
    const auto begin = static_cast<std::int64_t>(std::lround(line.px_of(span.begin))) - view.origin;
    const auto end = static_cast<std::int64_t>(std::lround(line.px_of_end(span.end()))) - view.origin;
    draw_contour({begin, std::max(begin + 3, end)}, view, 2, pixel_from_color(color_of(theme, Role::largest_free)));
  };
  if (!map.has_two_ends) return outline(map.largest_free);
  outline(map.largest_lower);
  if (map.largest_upper != map.largest_lower) outline(map.largest_upper);
}

// Outlines, since these blocks no longer exist. Small ones that touch in the picture share an outline.
void HeapRaster::draw_gone(const HeapSpans& map, const HeapMapView& view, Theme theme) {
  const HeapLine line(map, view);
  const auto first = line.address_at(std::max<std::int64_t>(0, view.origin));
  auto gone = map.gone.begin();
  if (first)
    gone = std::partition_point(map.gone.begin(), map.gone.end(),
                                [&](const AddressRange& one) { return one.end <= *first; });
  const Pixel ink = pixel_from_color(color_of(theme, Role::shrunk));
  constexpr std::int64_t narrow = 4;
  Span open;
  for (; gone != map.gone.end(); ++gone) {
    Span span{static_cast<std::int64_t>(std::lround(line.px_of(gone->begin))) - view.origin,
              static_cast<std::int64_t>(std::lround(line.px_of_end(gone->end))) - view.origin};
    if (span.begin >= static_cast<std::int64_t>(cells_.size())) break;
    span.end = std::max(span.end, span.begin + 1);
    const bool is_dust = span.end - span.begin < narrow || open.end - open.begin < narrow;
    if (is_dust && open.end > open.begin && span.begin <= open.end) {
      open.end = std::max(open.end, span.end);
      continue;
    }
    if (open.end > open.begin) draw_contour(open, view, 1, ink);
    open = span;
  }
  if (open.end > open.begin) draw_contour(open, view, 1, ink);
}

// Hits that touch in the picture are merged into one span.
void HeapRaster::draw_hits(const HeapSpans& map, const HeapMapView& view, Theme theme,
                           std::span<const AddressRange> hits, bool has_contours) {
  const HeapLine line(map, view);
  const auto cells = static_cast<std::int64_t>(cells_.size());
  const auto first = line.address_at(std::max<std::int64_t>(0, view.origin));
  auto hit = hits.begin();
  if (first)
    hit = std::partition_point(hits.begin(), hits.end(), [&](const AddressRange& one) { return one.end <= *first; });
  std::vector<Span> spans;
  std::vector<std::uint8_t> is_hit(cells_.size(), 0);
  for (; hit != hits.end(); ++hit) {
    const auto begin = static_cast<std::int64_t>(std::lround(line.px_of(hit->begin))) - view.origin;
    if (begin >= cells) break;
    const auto end = std::max(begin + (has_contours ? 3 : 1),
                              static_cast<std::int64_t>(std::lround(line.px_of_end(hit->end))) - view.origin);
    if (end <= 0) continue;
    if (!spans.empty() && begin <= spans.back().end)
      spans.back().end = std::max(spans.back().end, end);
    else
      spans.push_back({begin, end});
  }
  for (const Span& span : spans)
    std::fill(is_hit.begin() + std::max<std::int64_t>(0, span.begin), is_hit.begin() + std::min(span.end, cells), 1);
  constexpr Pixel halves = 0x7F7F7F7FU;  // Halves each channel, without carrying into its neighbour.
  const Pixel panel = (pixel_from_color(color_of(theme, Role::panel)) >> 1) & halves;
  const auto width = static_cast<std::size_t>(view.width);
  for (std::size_t row = 0; row < static_cast<std::size_t>(view.rows); ++row) {
    const std::uint8_t* const hit_cells = is_hit.data() + row * width;
    hit_rows_[row] =
        has_contours && std::any_of(hit_cells, hit_cells + width, [](std::uint8_t one) { return one != 0; });
    for (std::size_t y = 0; y < static_cast<std::size_t>(view.pitch); ++y) {
      Pixel* const out = pixels_.data() + (row * static_cast<std::size_t>(view.pitch) + y) * width;
      for (std::size_t x = 0; x < width; ++x)
        if (hit_cells[x] == 0) out[x] = (((out[x] >> 1) & halves) + panel) | 0xFF000000U;
    }
  }
  if (!has_contours) return;
  const Pixel ink = pixel_from_color(color_of(theme, Role::selection));
  for (const Span& span : spans) draw_contour(span, view, 1, ink);
}

// Inside the span, in all of its rows.
void HeapRaster::draw_contour(const Span& span, const HeapMapView& view, int thick, Pixel ink) {
  const auto cells = static_cast<std::int64_t>(cells_.size());
  const int last_y = view.pitch - 2;
  const auto inside = [&](std::int64_t cell) { return cell >= span.begin && cell < span.end; };
  for (std::int64_t cell = std::max<std::int64_t>(0, span.begin); cell < std::min(span.end, cells); ++cell) {
    const std::int64_t row = cell / view.width, x = cell % view.width;
    const bool above = inside(cell - view.width), below = inside(cell + view.width);
    // Left and right ends are those of the span, not of a row at which it continues.
    const bool side = cell - span.begin < thick || span.end - 1 - cell < thick;
    for (int y = 0; y < view.pitch; ++y) {
      const bool edge = (!above && y < thick) || (!below && y > last_y - thick && y <= last_y);
      if ((edge || (side && y <= last_y)))
        pixels_[static_cast<std::size_t>((row * view.pitch + y) * view.width + x)] = ink;
    }
  }
}

}  // namespace hbmscope::gui
