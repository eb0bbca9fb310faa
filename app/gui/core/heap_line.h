// Where addresses lie in a heap map. The regions stand end to end on one line of pixels, low addresses first, and the
// line is wrapped into rows as text is. Each region takes whole pixels, its last one maybe in part, and between two
// regions lies a notch that no piece crosses.
//
// Or, for comparing regions, each begins a row of its own, and what is left of its last row stays empty.
//
// 60 GiB in a picture of 1,240 x 560 px: rows of 1 GiB, 846 KiB a pixel, 60 rows at a pitch of 9 px.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/gui/core/heap_pieces.h"

namespace hbmscope::gui {

// What a picture of the map shows.
struct HeapMapView {
  int width = 0, rows = 0, pitch = 0;  // px; a row is `pitch` high, its last pixel a seam.
  double bytes_per_px = 1;
  std::int64_t origin = 0;  // The pixel of the line in the upper left corner; below 0 and beyond the end lies nothing.
  bool by_region = false;   // Each region begins a row.

  int height() const { return rows * pitch; }
  friend bool operator==(const HeapMapView&, const HeapMapView&) = default;
};

class HeapLine {
 public:
  // `row_px`: the width of a row, of which each region begins one; 0: they stand end to end.
  HeapLine(const HeapPieces& map, double bytes_per_px, int row_px = 0);
  HeapLine(const HeapPieces& map, const HeapMapView& view)
      : HeapLine(map, view.bytes_per_px, view.by_region ? view.width : 0) {}

  double bytes_per_px() const { return bytes_per_px_; }
  std::int64_t length_px() const { return length_; }
  std::int64_t begin_px(std::size_t region) const { return begins_[region]; }
  std::int64_t end_px(std::size_t region) const { return ends_[region]; }  // Of its last pixel, without the notch.
  int notch_px() const { return notch_; }

  // The pixel in which an address lies. Outside of all regions: where the next one begins, or the line ends.
  double px_of(std::uint64_t address) const;
  // Where a piece that ends there ends. It differs from px_of at the end of a region, where the notch begins.
  double px_of_end(std::uint64_t address) const;
  // The address in the middle of a pixel; nothing in a notch or beyond the ends.
  std::optional<std::uint64_t> address_at(std::int64_t px) const;
  // Of the notch, or the rest of a row, that the pixel lies in: the region behind it.
  std::optional<std::size_t> region_after_notch(std::int64_t px) const;
  // The first region that ends behind the pixel; regions() where there is none.
  std::size_t region_at_or_after(std::int64_t px) const;

 private:
  const HeapPieces* map_;
  double bytes_per_px_;
  int notch_ = 0;
  std::vector<std::int64_t> begins_, ends_;  // By region.
  std::int64_t length_ = 0;
};

// One row is the smallest power of two of bytes (at least 256 a pixel row) with which all rows fit into the height at a
// pitch of 8 px or more; the pitch is then as large as fits, and 24 px at most. By region a row is never longer than
// the largest region needs, so that a heap with more regions than there is room for goes on below the picture.
HeapMapView fit_heap_map(const HeapPieces& map, int width, int height, bool by_region = false);
// Does the picture end before the line does?
bool goes_on_below(const HeapPieces& map, const HeapMapView& view);

// Zooms by `factor` (above 1: nearer) so that what lies at (x, y) stays there. Between Fit and 16 px for 256 bytes.
HeapMapView zoom_heap_map(const HeapPieces& map, const HeapMapView& view, int height, double factor, int x, int y);

// Moves by whole pixels, as a hand that drags the picture; not beyond its ends.
HeapMapView pan_heap_map(const HeapPieces& map, const HeapMapView& view, std::int64_t by_px);

// Shows a range of addresses so that it takes 60 % of a row, in the middle of the picture.
HeapMapView zoom_to_range(const HeapPieces& map, const HeapMapView& fit, int height, AddressRange range);

}  // namespace hbmscope::gui
