// Maps addresses to pixels of the heap map. The heap's places, which are all regions that it ever had, follow each
// other on one line of pixels, lowest address first, and the line is wrapped into rows like text. Each place takes a
// whole number of pixels (the last one may be partly filled), and a notch separates two. A region is a place or a part
// of one.
//
// Alternatively each place begins its own row, which makes them easier to compare; the rest of its last row is
// empty. Or the line is not wrapped at all: a strip is one long row, of which the picture shows a part, as a timeline
// does of time.
//
// Example: 60 GiB in a picture of 1,240 x 560 px gives rows of 1 GiB at 846 KiB per pixel, 60 rows at a pitch of 9 px.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "app/gui/core/heap_spans.h"

namespace hbmscope::gui {

// Automatic: a strip where rows would be hard to follow (shown_layout()).
enum class MapLayout : std::uint8_t { automatic, wrapped, by_region, strip };
std::string_view text_from_map_layout(MapLayout layout);  // The value of --rows: "auto", "address", "region", "strip".
MapLayout parse_map_layout(std::string_view text);        // Automatic, if the text is none of them.
// Never automatic. In rows, zooming wraps everything anew, and with many regions nothing is found again: so it is a
// strip while only some addresses are shown, and above 20 places.
MapLayout shown_layout(MapLayout wanted, std::size_t places, bool shows_some);

// What the map of the other side has at Fit. Both have one scale, so at least this much.
struct FitBeside {
  double row_bytes = 0;
  int rows = 0;
  friend bool operator==(const FitBeside&, const FitBeside&) = default;
};

// The visible part of the map.
struct HeapMapView {
  int width = 0, rows = 0, pitch = 0;  // In px; a row is `pitch` high, and its last pixel is a seam.
  double bytes_per_px = 1;
  std::int64_t origin = 0;  // Pixel of the line at the upper left corner. Pixels below 0 or past the end are empty.
  MapLayout layout = MapLayout::wrapped;
  FitBeside beside = {};

  bool by_region() const { return layout == MapLayout::by_region; }
  bool is_strip() const { return layout == MapLayout::strip; }
  int height() const { return rows * pitch; }
  friend bool operator==(const HeapMapView&, const HeapMapView&) = default;
};

class HeapLine {
 public:
  // `row_px`: the width of a row, if each region begins its own row. 0 means that regions follow each other.
  HeapLine(const HeapSpans& map, double bytes_per_px, int row_px = 0);
  HeapLine(const HeapSpans& map, const HeapMapView& view)
      : HeapLine(map, view.bytes_per_px, view.by_region() ? view.width : 0) {}

  double bytes_per_px() const { return bytes_per_px_; }
  std::int64_t length_px() const { return length_; }
  std::int64_t begin_px(std::size_t region) const { return begins_[region]; }
  // The end of its last pixel, before the notch.
  std::int64_t end_px(std::size_t region) const { return ends_[region]; }
  int notch_px() const { return notch_; }

  // The pixel of an address. Outside all places: the start of the next one, or the end of the line.
  double px_of(std::uint64_t address) const;
  // The pixel at which a block that ends at `address` ends. It differs from px_of() at the end of a region, before the
  // notch.
  double px_of_end(std::uint64_t address) const;
  // The address at the centre of a pixel; nothing where no memory is, in a notch or beyond the ends.
  std::optional<std::uint64_t> address_at(std::int64_t px) const;
  // If the pixel lies between two regions: the one after it.
  std::optional<std::size_t> region_after_notch(std::int64_t px) const;
  // The first region that ends after the pixel; regions() if there is none.
  std::size_t region_at_or_after(std::int64_t px) const;
  // The same for places, and where one begins.
  std::size_t place_at_or_after(std::int64_t px) const;
  std::int64_t place_px(std::size_t place) const { return place_begins_[place]; }
  // The address at the left edge of a pixel, whether or not memory is there now; in a notch, that of the next place.
  std::uint64_t address_of_place(std::int64_t px) const;

 private:
  const HeapSpans* map_;
  double bytes_per_px_;
  int notch_ = 0;
  std::vector<std::int64_t> begins_, ends_;              // Per region.
  std::vector<std::int64_t> place_begins_, place_ends_;  // Per place.
  std::int64_t length_ = 0;
};

// The scale at which the whole heap fits the picture. The bytes per row are the smallest power of two (at least 256 per
// pixel row) with which all rows fit at a pitch of 8 px or more; the pitch is then as large as fits, at most 24 px.
// Each region takes at least one pixel, and by region at least one row, which is never longer than the largest region
// needs. So a heap with too many regions continues below the picture; a pixel is then at most as large as the mean
// region. A strip has one row of the whole height, and continues to the right.
HeapMapView fit_heap_map(const HeapSpans& map, int width, int height, MapLayout layout = MapLayout::wrapped,
                         FitBeside beside = {});
// All of a room up to 480 px, and two thirds of a higher one: neither a thin line nor a wall.
constexpr int strip_height_in(int room) {
  constexpr int whole = 480;
  return room < whole ? room : std::max(whole, room * 2 / 3);
}
// True if the line continues below the picture.
bool goes_on_below(const HeapSpans& map, const HeapMapView& view);

// Zooms by `factor` (above 1: in) around (x, y). The scale stays between Fit and 16 px per 256 bytes. `address` comes
// to lie there, by default what lies there already; over many steps, that moves by a part of a pixel in each.
HeapMapView zoom_heap_map(const HeapSpans& map, const HeapMapView& view, int height, double factor, int x, int y,
                          std::optional<std::uint64_t> address = std::nullopt);

// Pans by whole pixels, like dragging the picture; it stops at the ends.
HeapMapView pan_heap_map(const HeapSpans& map, const HeapMapView& view, std::int64_t by_px);

// Centers a range of addresses so that it takes 60 % of a row.
HeapMapView zoom_to_range(const HeapSpans& map, const HeapMapView& fit, int height, AddressRange range);

// The addresses from the left to the right end of a strip; empty if it shows the whole heap. strip_of_addresses() is
// the inverse: what a strip shows is a range of addresses, whatever happens to the heap.
AddressRange addresses_of_strip(const HeapSpans& map, const HeapMapView& view);
HeapMapView strip_of_addresses(const HeapSpans& map, int width, int height, AddressRange range, FitBeside beside = {});
// Zooming in rows by `factor` leads into a strip. The address at `px` of the rows' line comes to lie at `x`.
AddressRange strip_of_rows(const HeapSpans& map, const HeapMapView& rows, int width, int height, double factor,
                           std::int64_t px, int x);

}  // namespace hbmscope::gui
