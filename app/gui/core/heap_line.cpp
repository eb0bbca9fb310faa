#include "app/gui/core/heap_line.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hbmscope::gui {
namespace {

constexpr double bytes_per_px_least = 256.0 / 16;
constexpr int pitch_least = 8, pitch_most = 24;
// A row with names in its blocks, and the width that a block needs for its name.
constexpr int pitch_of_names = 18, width_of_name = 60;

// With a thousand small regions, notches would take all the room.
int notch_for(std::size_t regions, double pixels) {
  if (static_cast<double>(regions) * 3 <= pixels / 8) return 3;
  return static_cast<double>(regions) <= pixels / 8 ? 1 : 0;
}

double mean_place_bytes(const HeapSpans& map) {
  return static_cast<double>(map.place_bytes) / static_cast<double>(std::max<std::size_t>(1, map.places.size()));
}

// The smallest power of two of bytes per row with which the line fits into the rows. Each place takes at least a
// pixel, so with more places than half of the pixels nothing may fit: then a pixel is at most the size of the mean
// place, and the line continues below.
double fit_wrapped(const HeapSpans& map, int width, int rows, double row_bytes_least) {
  const double pixels = static_cast<double>(width) * rows;
  double row_bytes = 256;
  while (row_bytes < row_bytes_least * (1 - 1e-9)) row_bytes *= 2;
  if (static_cast<double>(map.places.size()) * 2 > pixels) {
    while (row_bytes * 2 / width <= mean_place_bytes(map)) row_bytes *= 2;
    return row_bytes / width;
  }
  // The line is at least as long as its bytes.
  while (row_bytes * rows < static_cast<double>(map.scale_bytes)) row_bytes *= 2;
  while (static_cast<double>(HeapLine(map, row_bytes / width).length_px()) > pixels) row_bytes *= 2;
  return row_bytes / width;
}

// A row is as long as the longest place at most.
double fit_by_region(const HeapSpans& map, int width, int rows, double row_bytes_least) {
  std::uint64_t longest = 0;
  for (const AddressRange& place : map.places) longest = std::max(longest, place.size());
  double row_bytes = 256;
  while (row_bytes < static_cast<double>(longest) &&
         HeapLine(map, row_bytes / width, width).length_px() > static_cast<std::int64_t>(width) * rows)
    row_bytes *= 2;
  // Slightly more than the longest place, so that a rounding error can't push it into a second row.
  return std::max(row_bytes_least, std::min(row_bytes, std::max(256.0, static_cast<double>(longest) * (1 + 1e-9)))) /
         width;
}

void keep_in_sight(const HeapSpans& map, HeapMapView& view) {
  const std::int64_t length = HeapLine(map, view).length_px();
  if (view.is_strip()) {
    view.origin = std::clamp<std::int64_t>(view.origin, 0, std::max<std::int64_t>(0, length - view.width));
    return;
  }
  // By region the picture's last row may be cut off, so its content must be able to scroll up by one row.
  const int rows = view.by_region() ? std::max(1, view.rows - 1) : view.rows;
  const std::int64_t shown = static_cast<std::int64_t>(view.width) * rows;
  const std::int64_t rounded = view.by_region() ? (length + view.width - 1) / view.width * view.width : length;
  const std::int64_t most = std::max<std::int64_t>(0, rounded - shown + (view.by_region() ? 0 : view.width - 1));
  const std::int64_t least = view.by_region() ? 0 : -(view.width - 1);
  view.origin = std::clamp<std::int64_t>(view.origin, least, std::max(least, most));
}

}  // namespace

HeapLine::HeapLine(const HeapSpans& map, double bytes_per_px, int row_px) : map_(&map), bytes_per_px_(bytes_per_px) {
  notch_ = row_px > 0 ? 0 : notch_for(map.places.size(), static_cast<double>(map.place_bytes) / bytes_per_px);
  begins_.reserve(map.regions.size());
  ends_.reserve(map.regions.size());
  const auto pixels_of = [&](std::uint64_t bytes) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) / bytes_per_px)));
  };
  std::size_t region = 0;
  for (const AddressRange& place : map.places) {
    if (length_ > 0) length_ += notch_;
    if (row_px > 0) length_ = (length_ + row_px - 1) / row_px * row_px;
    place_begins_.push_back(length_);
    length_ += pixels_of(place.size());
    place_ends_.push_back(length_);
    std::int64_t free_from = place_begins_.back();
    for (; region < map.regions.size() && map.regions[region].range.begin < place.end; ++region) {
      const AddressRange range = map.regions[region].range;
      const auto inside = static_cast<std::int64_t>(static_cast<double>(range.begin - place.begin) / bytes_per_px);
      // Several in one pixel hide each other: the line never gets longer by what happens to be there now.
      begins_.push_back(std::min(std::max(free_from, place_begins_.back() + inside), length_ - 1));
      ends_.push_back(free_from = std::min(begins_.back() + pixels_of(range.size()), length_));
    }
  }
}

double HeapLine::px_of(std::uint64_t address) const {
  const auto& regions = map_->regions;
  const auto region = std::upper_bound(regions.begin(), regions.end(), address,
                                       [](std::uint64_t at, const SpanRegion& one) { return at < one.range.end; });
  if (region != regions.end() && region->range.begin <= address)
    return static_cast<double>(begins_[static_cast<std::size_t>(region - regions.begin())]) +
           static_cast<double>(address - region->range.begin) / bytes_per_px_;
  const auto& places = map_->places;
  const auto place = std::upper_bound(places.begin(), places.end(), address,
                                      [](std::uint64_t at, const AddressRange& one) { return at < one.end; });
  if (place == places.end()) return static_cast<double>(length_);
  const auto begin = static_cast<double>(place_begins_[static_cast<std::size_t>(place - places.begin())]);
  return address <= place->begin ? begin : begin + static_cast<double>(address - place->begin) / bytes_per_px_;
}

double HeapLine::px_of_end(std::uint64_t address) const {
  return address == 0 ? 0 : px_of(address - 1) + 1 / bytes_per_px_;
}

std::size_t HeapLine::region_at_or_after(std::int64_t px) const {
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), px);
  const auto region = static_cast<std::size_t>(next - begins_.begin());
  return region > 0 && px < end_px(region - 1) ? region - 1 : region;
}

std::size_t HeapLine::place_at_or_after(std::int64_t px) const {
  return static_cast<std::size_t>(std::upper_bound(place_ends_.begin(), place_ends_.end(), px) - place_ends_.begin());
}

std::uint64_t HeapLine::address_of_place(std::int64_t px) const {
  const std::size_t place = place_at_or_after(px);
  if (place == place_begins_.size()) return map_->places.back().end;
  const AddressRange range = map_->places[place];
  const double inside = static_cast<double>(std::max<std::int64_t>(0, px - place_begins_[place])) * bytes_per_px_;
  return range.begin + std::min(range.size(), static_cast<std::uint64_t>(std::llround(inside)));
}

std::optional<std::uint64_t> HeapLine::address_at(std::int64_t px) const {
  const std::size_t region = region_at_or_after(px);
  if (region == begins_.size() || px < begins_[region]) return std::nullopt;
  const AddressRange range = map_->regions[region].range;
  const double offset = (static_cast<double>(px - begins_[region]) + 0.5) * bytes_per_px_;
  return range.begin + std::min(range.size() - 1, static_cast<std::uint64_t>(offset));
}

std::optional<std::size_t> HeapLine::region_after_notch(std::int64_t px) const {
  const std::size_t region = region_at_or_after(px);
  if (px < 0 || region == 0 || region == begins_.size() || px >= begins_[region]) return std::nullopt;
  return region;
}

namespace {

HeapMapView fit_with_pitch(const HeapSpans& map, int width, int height, MapLayout layout, int pitch, FitBeside beside) {
  HeapMapView view;
  view.width = std::max(1, width);
  view.layout = layout;
  view.beside = beside;
  const int rows_most = std::max(1, height / pitch);
  view.bytes_per_px = view.by_region() ? fit_by_region(map, view.width, rows_most, beside.row_bytes)
                                       : fit_wrapped(map, view.width, rows_most, beside.row_bytes);
  // The same height of a row where the places are fewer than the scale leaves room for.
  const std::int64_t length = std::max(
      HeapLine(map, view).length_px(),
      view.by_region() ? 0 : static_cast<std::int64_t>(static_cast<double>(map.scale_bytes) / view.bytes_per_px));
  const std::int64_t rows = std::max<std::int64_t>(1, (length + view.width - 1) / view.width);
  view.pitch =
      std::clamp(static_cast<int>(height / std::max<std::int64_t>(rows, beside.rows)), pitch_least, pitch_most);
  view.rows = static_cast<int>(std::min<std::int64_t>(rows, rows_most));
  return view;
}

HeapMapView fit_strip(const HeapSpans& map, int width, int height, FitBeside beside) {
  HeapMapView view;
  view.width = std::max(1, width);
  view.layout = MapLayout::strip;
  view.rows = 1;
  view.pitch = std::max(height, pitch_least);
  view.beside = beside;
  view.bytes_per_px = std::max({1.0, static_cast<double>(map.scale_bytes), beside.row_bytes}) / view.width;
  if (map.places.size() > static_cast<std::size_t>(view.width)) {  // Each takes a pixel, so they never fit.
    view.bytes_per_px = std::max(1.0, mean_place_bytes(map));
    return view;
  }
  // Notches, and regions that are rounded up to pixels, need some more room.
  const auto fits = [&] { return HeapLine(map, view).length_px() <= view.width; };
  double too_fine = view.bytes_per_px;
  for (int i = 0; i < 12 && !fits(); ++i) view.bytes_per_px *= 1.25;
  double coarse = view.bytes_per_px;
  for (int i = 0; i < 16 && coarse > too_fine; ++i) {
    view.bytes_per_px = (too_fine + coarse) / 2;
    (fits() ? coarse : too_fine) = view.bytes_per_px;
  }
  view.bytes_per_px = coarse;
  return view;
}

// Whether at least half of the bytes in use are in blocks that are wide enough for a name.
bool has_room_for_names(const HeapSpans& map, double bytes_per_px) {
  std::uint64_t all = 0, wide = 0;
  for (std::size_t i = 0; i < map.block_bytes.size(); ++i) {
    all += map.block_bytes[i];
    if (std::ldexp(1.0, static_cast<int>(i)) >= width_of_name * bytes_per_px) wide += map.block_bytes[i];
  }
  return wide > 0 && wide >= all - wide;
}

}  // namespace

HeapMapView fit_heap_map(const HeapSpans& map, int width, int height, MapLayout layout, FitBeside beside) {
  if (layout == MapLayout::strip) return fit_strip(map, width, height, beside);
  const HeapMapView fine = fit_with_pitch(map, width, height, layout, pitch_least, beside);
  if (fine.pitch >= pitch_of_names || layout == MapLayout::by_region) return fine;
  const HeapMapView named = fit_with_pitch(map, width, height, layout, pitch_of_names, beside);
  return has_room_for_names(map, named.bytes_per_px) ? named : fine;
}

bool goes_on_below(const HeapSpans& map, const HeapMapView& view) {
  return HeapLine(map, view).length_px() > view.origin + static_cast<std::int64_t>(view.width) * view.rows;
}

HeapMapView zoom_heap_map(const HeapSpans& map, const HeapMapView& view, int height, double factor, int x, int y,
                          std::optional<std::uint64_t> address) {
  const HeapMapView fit = fit_heap_map(map, view.width, height, view.layout, view.beside);
  HeapMapView zoomed = view;
  zoomed.bytes_per_px = std::max(view.bytes_per_px / factor, bytes_per_px_least);
  if (zoomed.bytes_per_px >= fit.bytes_per_px * 0.999) return fit;
  // Higher rows give room for names; the height grows slowly to avoid jumps.
  if (!view.is_strip()) {
    zoomed.pitch = std::clamp(static_cast<int>(fit.pitch * std::pow(fit.bytes_per_px / zoomed.bytes_per_px, 0.25)),
                              fit.pitch, std::max(fit.pitch, pitch_most));
    zoomed.rows = std::max(1, (height + zoomed.pitch - 1) / zoomed.pitch);
  }
  const HeapLine before(map, view), after(map, zoomed);
  const std::int64_t px = view.origin + static_cast<std::int64_t>(y / view.pitch) * view.width + x;
  if (!address) address = before.address_at(px);
  if (!address && px >= 0 && px < before.length_px()) address = before.address_of_place(px);  // No memory is there now.
  // In a notch or beyond the end, keep the position as a share of the line.
  const double at = address ? after.px_of(*address)
                            : static_cast<double>(px) * static_cast<double>(after.length_px()) /
                                  static_cast<double>(std::max<std::int64_t>(1, before.length_px()));
  zoomed.origin = static_cast<std::int64_t>(at) - static_cast<std::int64_t>(y / zoomed.pitch) * view.width - x;
  keep_in_sight(map, zoomed);
  return zoomed;
}

HeapMapView pan_heap_map(const HeapSpans& map, const HeapMapView& view, std::int64_t by_px) {
  HeapMapView panned = view;
  panned.origin -= by_px;
  keep_in_sight(map, panned);
  return panned;
}

HeapMapView zoom_to_range(const HeapSpans& map, const HeapMapView& fit, int height, AddressRange range) {
  const double wanted = static_cast<double>(std::max<std::uint64_t>(1, range.size())) / (0.6 * fit.width);
  if (wanted >= fit.bytes_per_px) return fit;
  HeapMapView view = zoom_heap_map(map, fit, height, fit.bytes_per_px / wanted, 0, 0);
  const HeapLine line(map, view);
  const auto middle = static_cast<std::int64_t>((line.px_of(range.begin) + line.px_of_end(range.end)) / 2);
  view.origin = middle - static_cast<std::int64_t>(height / view.pitch / 2) * view.width - view.width / 2;
  keep_in_sight(map, view);
  return view;
}

AddressRange addresses_of_strip(const HeapSpans& map, const HeapMapView& view) {
  const HeapLine line(map, view);
  if (map.places.empty() || (view.origin <= 0 && view.origin + view.width >= line.length_px())) return {};
  // The end of the pixel before: in a notch, that of the place before it.
  const std::int64_t end_px = view.origin + view.width;
  const std::size_t place = line.place_at_or_after(end_px - 1);
  const bool is_in_notch = place > 0 && place < map.places.size() && end_px <= line.place_px(place);
  return {line.address_of_place(view.origin), is_in_notch ? map.places[place - 1].end : line.address_of_place(end_px)};
}

HeapMapView strip_of_addresses(const HeapSpans& map, int width, int height, AddressRange range, FitBeside beside) {
  const HeapMapView fit = fit_heap_map(map, width, height, MapLayout::strip, beside);
  std::uint64_t bytes = 0, places = 0;
  for (const AddressRange& place : map.places) {
    const AddressRange part = place.intersection(range);
    bytes += part.size();
    places += part.empty() ? 0 : 1;
  }
  if (bytes == 0) return fit;
  HeapMapView view = fit;
  // How many pixels notches take depends on the scale, which depends on them.
  for (int i = 0; i < 3; ++i) {
    const auto notches = static_cast<int>(places - 1) * HeapLine(map, view).notch_px();
    view.bytes_per_px = std::max(bytes_per_px_least, static_cast<double>(bytes) / std::max(1, view.width - notches));
  }
  if (view.bytes_per_px >= fit.bytes_per_px * 0.999) return fit;
  view.origin = std::llround(HeapLine(map, view).px_of(range.begin));
  keep_in_sight(map, view);
  return view;
}

AddressRange strip_of_rows(const HeapSpans& map, const HeapMapView& rows, int width, int height, double factor,
                           std::int64_t px, int x) {
  HeapMapView strip = fit_heap_map(map, width, height, MapLayout::strip, rows.beside);
  strip.bytes_per_px = std::clamp(rows.bytes_per_px / factor, bytes_per_px_least, strip.bytes_per_px);
  const std::uint64_t address = HeapLine(map, rows).address_of_place(px);
  strip.origin = std::llround(HeapLine(map, strip).px_of(address)) - x;
  keep_in_sight(map, strip);
  return addresses_of_strip(map, strip);
}

MapLayout shown_layout(MapLayout wanted, std::size_t places, bool shows_some) {
  constexpr std::size_t places_max = 20;
  if (wanted != MapLayout::automatic) return wanted;
  return shows_some || places > places_max ? MapLayout::strip : MapLayout::wrapped;
}

std::string_view text_from_map_layout(MapLayout layout) {
  constexpr std::array<std::string_view, 4> words{"auto", "address", "region", "strip"};
  return words[static_cast<std::size_t>(layout)];
}

MapLayout parse_map_layout(std::string_view text) {
  for (const MapLayout layout : {MapLayout::wrapped, MapLayout::by_region, MapLayout::strip})
    if (text_from_map_layout(layout) == text) return layout;
  return MapLayout::automatic;
}

}  // namespace hbmscope::gui
