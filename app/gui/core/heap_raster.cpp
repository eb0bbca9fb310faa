#include "app/gui/core/heap_raster.h"

#include <algorithm>
#include <cmath>

#include "app/gui/core/in_bands.h"

namespace hbmscope::gui {

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

namespace {

// Steps of one scale, near viridis: told apart under protan, deutan and tritan vision, and in their order of
// brightness. The last one is what most of a heap has where blocks are large, so it is no signal colour.
constexpr std::array<Color, step_count> steps_dark{{{0x36, 0x3B, 0x7D},
                                                    {0x54, 0x58, 0xBA},
                                                    {0x26, 0x8C, 0x7D},
                                                    {0x61, 0xB7, 0x86},
                                                    {0xB1, 0xC5, 0x65},
                                                    {0xDB, 0xDC, 0xAF}}};
constexpr std::array<Color, step_count> steps_light{{{0xD0, 0xDA, 0x1E},
                                                     {0x94, 0xA8, 0x66},
                                                     {0x57, 0x9F, 0x96},
                                                     {0x3C, 0x6C, 0x71},
                                                     {0x54, 0x39, 0xA8},
                                                     {0x54, 0x1E, 0x43}}};

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
                                           std::span<const AddressRange> hits, bool has_contours, bool looks_for) {
  cells_.resize(static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.rows));
  pixels_.resize(static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.height()));
  const HeapLine line(map, view);
  const Inks inks(map, theme);
  in_bands(view.rows, static_cast<std::int64_t>(pixels_.size()), [&](int first_row, int last_row) {
    draw_map_cells(cells_, map, line, view, first_row, last_row);
    draw_pixels(inks, view, first_row, last_row);
  });
  hit_rows_.assign(static_cast<std::size_t>(view.rows), false);
  if (!hits.empty() || looks_for) draw_hits(map, view, theme, hits, has_contours);
  draw_gone(map, view, theme);
  draw_largest_free(map, view, theme);
  return pixels_;
}

void HeapRaster::draw_pixels(const Inks& inks, const HeapMapView& view, int first_row, int last_row) {
  const auto width = static_cast<std::size_t>(view.width);
  // Most cells have one colour up to a height, and are free above it. The others are drawn over them.
  std::vector<Pixel> ink(width);
  std::vector<int> use(width);
  std::vector<std::size_t> others;
  for (int row = first_row; row < last_row; ++row) {
    const MapCell* const cells = cells_.data() + static_cast<std::size_t>(row) * width;
    others.clear();
    for (std::size_t x = 0; x < width; ++x) {
      const MapCell& cell = cells[x];
      const std::size_t shade = cell.look & MapCell::shade_mask;
      ink[x] = (cell.look & MapCell::is_edge) != 0 ? inks.edge[shade] : inks.fill[shade];
      use[x] = cell.use;
      if (cell.fill < MapCell::Fill::spans || cell.waste > 0 || cell.look >= MapCell::is_pending) others.push_back(x);
    }
    Pixel* out = pixels_.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(view.pitch) * width;
    for (int y = 0; y + 1 < view.pitch; ++y, out += width) {
      const int up = view.pitch - 2 - y;
      for (std::size_t x = 0; x < width; ++x) out[x] = up < use[x] ? ink[x] : inks.free;
      for (const std::size_t x : others) out[x] = pixel_of(cells[x], inks, x, row * view.pitch + y, up, view.pitch - 1);
    }
    for (std::size_t x = 0; x < width; ++x)
      out[x] = cells[x].fill == MapCell::Fill::free_inside ? inks.free : inks.panel;
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
