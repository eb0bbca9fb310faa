// The vertical axis of a heap's addresses. Regions follow each other in address order, each with a height in proportion
// to its size, with a notch between two regions while there is room for notches. Addresses between regions take no
// height.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/model/address_range.h"

namespace hbmscope::gui {

class AddressAxis {
 public:
  AddressAxis() = default;
  // Regions must be ascending and must not overlap; `height` is in px.
  AddressAxis(std::vector<AddressRange> regions, int height);

  const std::vector<AddressRange>& regions() const { return regions_; }
  double bytes_per_px() const { return bytes_per_px_; }
  int notch_px() const { return notch_; }

  // An address between two regions maps to the start of the next region; one beyond the last region maps to its end.
  double px_of(std::uint64_t address) const;
  // The pixel at which a block that ends at `address` ends: at the end of its region, not at the start of the next one.
  double px_of_end(std::uint64_t address) const;
  // Nothing in a notch or beyond the ends of the axis.
  std::optional<std::uint64_t> address_at(double px) const;
  // In a notch, the start of the region after it; beyond the ends, the first or the last address.
  std::uint64_t nearest_address(double px) const;

 private:
  std::vector<AddressRange> regions_;
  std::vector<double> begins_;  // Per region, in px.
  double bytes_per_px_ = 1;
  int notch_ = 0;
};

}  // namespace hbmscope::gui
