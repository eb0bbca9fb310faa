#include "app/gui/core/address_axis.h"

#include <algorithm>

namespace hbmscope::gui {
namespace {

// Notches take at most an eighth of the height.
int notch_for(std::size_t regions, int height) {
  const auto room = static_cast<std::size_t>(std::max(0, height)) / 8;
  if (regions * 3 <= room) return 3;
  return regions <= room ? 1 : 0;
}

}  // namespace

AddressAxis::AddressAxis(std::vector<AddressRange> regions, int height)
    : regions_(std::move(regions)), notch_(notch_for(regions_.size(), height)) {
  if (regions_.empty()) return;
  double bytes = 0;
  for (const AddressRange& region : regions_) bytes += static_cast<double>(region.size());
  const double room = std::max(1.0, height - static_cast<double>(notch_) * static_cast<double>(regions_.size() - 1));
  bytes_per_px_ = bytes / room;
  double at = 0;
  for (const AddressRange& region : regions_) {
    begins_.push_back(at);
    at += static_cast<double>(region.size()) / bytes_per_px_ + notch_;
  }
}

double AddressAxis::px_of(std::uint64_t address) const {
  const auto region = std::upper_bound(regions_.begin(), regions_.end(), address,
                                       [](std::uint64_t at, const AddressRange& one) { return at < one.end; });
  if (region == regions_.end()) return regions_.empty() ? 0 : px_of_end(regions_.back().end);
  const double begin = begins_[static_cast<std::size_t>(region - regions_.begin())];
  return address <= region->begin ? begin : begin + static_cast<double>(address - region->begin) / bytes_per_px_;
}

double AddressAxis::px_of_end(std::uint64_t address) const {
  const auto region = std::lower_bound(regions_.begin(), regions_.end(), address,
                                       [](const AddressRange& one, std::uint64_t at) { return one.end < at; });
  if (region == regions_.end()) return regions_.empty() ? 0 : px_of_end(regions_.back().end);
  const double begin = begins_[static_cast<std::size_t>(region - regions_.begin())];
  return address <= region->begin ? begin : begin + static_cast<double>(address - region->begin) / bytes_per_px_;
}

std::optional<std::uint64_t> AddressAxis::address_at(double px) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), px);
  if (after == begins_.begin()) return std::nullopt;
  const auto number = static_cast<std::size_t>(after - begins_.begin()) - 1;
  const double bytes = (px - begins_[number]) * bytes_per_px_;
  if (bytes >= static_cast<double>(regions_[number].size())) return std::nullopt;
  return regions_[number].begin + static_cast<std::uint64_t>(bytes);
}

std::uint64_t AddressAxis::nearest_address(double px) const {
  if (const auto address = address_at(px)) return *address;
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), px);
  if (after != begins_.end()) return regions_[static_cast<std::size_t>(after - begins_.begin())].begin;
  return regions_.empty() ? 0 : regions_.back().end;
}

}  // namespace hbmscope::gui
