// Addresses from top to bottom: a heap's regions end to end, in the order of addresses, each as high as it is large,
// with a notch between two as long as there is room for notches. What lies between regions takes no height.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/model/address_range.h"

namespace hbmscope::gui {

class AddressAxis {
 public:
  AddressAxis() = default;
  // Ascending, not overlapping; `height` in px.
  AddressAxis(std::vector<AddressRange> regions, int height);

  const std::vector<AddressRange>& regions() const { return regions_; }
  double bytes_per_px() const { return bytes_per_px_; }
  int notch_px() const { return notch_; }

  // Between two regions: where the next one begins; beyond the last: its end.
  double px_of(std::uint64_t address) const;
  // Where a piece that ends there ends: at the end of its region, not at the begin of the next one.
  double px_of_end(std::uint64_t address) const;
  // Nothing in a notch, and beyond the ends.
  std::optional<std::uint64_t> address_at(double px) const;
  // Of a notch the region behind it; beyond the ends the first or the last address.
  std::uint64_t nearest_address(double px) const;

 private:
  std::vector<AddressRange> regions_;
  std::vector<double> begins_;  // By region, px.
  double bytes_per_px_ = 1;
  int notch_ = 0;
};

}  // namespace hbmscope::gui
