#include "analysis/heap/ordered_addresses.h"

#include <algorithm>

namespace hbmscope {
namespace {

// How many of the `count` sorted rows have an address not above this one. Branchless: among random addresses the
// processor would mispredict every second branch.
template <class AddressOf>
std::size_t count_not_above(std::uint64_t address, std::size_t count, const AddressOf& address_of) {
  std::size_t below = 0;
  while (count > 1) {
    const std::size_t half = count / 2;
    below += address_of(below + half - 1) <= address ? half : 0;
    count -= half;
  }
  return below + (count == 1 && address_of(below) <= address ? 1 : 0);
}

}  // namespace

OrderedAddresses::Place OrderedAddresses::place_above(std::uint64_t address) const {
  const std::size_t bounds =
      count_not_above(address, bounds_.size(), [this](std::size_t at) { return bounds_[at].address; });
  const std::size_t bound = bounds == 0 ? 0 : bounds - 1;
  const Page& page = pages_[bounds_[bound].page];
  const std::size_t above = count_not_above(address, page.count, [&](std::size_t at) { return page.addresses[at]; });
  return {bound, static_cast<std::uint32_t>(above)};
}

OrderedAddresses::Entry OrderedAddresses::entry(std::size_t bound, std::uint32_t at) const {
  const Page& page = pages_[bounds_[bound].page];
  return {page.addresses[at], page.values[at]};
}

std::uint32_t OrderedAddresses::new_page() {
  if (unused_.empty()) {
    pages_.emplace_back();
    return static_cast<std::uint32_t>(pages_.size() - 1);
  }
  const std::uint32_t page = unused_.back();
  unused_.pop_back();
  pages_[page].count = 0;
  return page;
}

void OrderedAddresses::split(std::size_t bound) {
  constexpr std::uint32_t half = page_size / 2;
  const std::uint32_t upper_page = new_page();
  Page& lower = pages_[bounds_[bound].page];
  Page& upper = pages_[upper_page];
  std::copy(lower.addresses.begin() + half, lower.addresses.end(), upper.addresses.begin());
  std::copy(lower.values.begin() + half, lower.values.end(), upper.values.begin());
  lower.count = half;
  upper.count = page_size - half;
  bounds_.insert(bounds_.begin() + static_cast<std::ptrdiff_t>(bound) + 1, {upper.addresses[0], upper_page});
}

void OrderedAddresses::insert(std::uint64_t address, std::uint32_t value) {
  if (bounds_.empty()) bounds_.push_back({address, new_page()});
  Place place = place_above(address);
  if (pages_[bounds_[place.bound].page].count == page_size) {
    split(place.bound);
    place = place_above(address);
  }
  bounds_[place.bound].address = std::min(bounds_[place.bound].address, address);
  Page& page = pages_[bounds_[place.bound].page];
  std::copy_backward(page.addresses.begin() + place.at, page.addresses.begin() + page.count,
                     page.addresses.begin() + page.count + 1);
  std::copy_backward(page.values.begin() + place.at, page.values.begin() + page.count,
                     page.values.begin() + page.count + 1);
  page.addresses[place.at] = address;
  page.values[place.at] = value;
  ++page.count;
  ++size_;
}

void OrderedAddresses::erase(std::uint64_t address) {
  const Place place = place_above(address);
  const std::uint32_t page_number = bounds_[place.bound].page;
  Page& page = pages_[page_number];
  std::copy(page.addresses.begin() + place.at, page.addresses.begin() + page.count,
            page.addresses.begin() + place.at - 1);
  std::copy(page.values.begin() + place.at, page.values.begin() + page.count, page.values.begin() + place.at - 1);
  --size_;
  if (--page.count > 0) return;
  unused_.push_back(page_number);
  bounds_.erase(bounds_.begin() + static_cast<std::ptrdiff_t>(place.bound));
}

void OrderedAddresses::set(std::uint64_t address, std::uint32_t value) {
  const Place place = place_above(address);
  pages_[bounds_[place.bound].page].values[place.at - 1] = value;
}

void OrderedAddresses::rename(std::uint64_t address, std::uint64_t to) {
  const Place place = place_above(address);
  pages_[bounds_[place.bound].page].addresses[place.at - 1] = to;
  // A bound may lie closer to the old address than the neighbouring address does.
  bounds_[place.bound].address = std::min(bounds_[place.bound].address, to);
  if (place.bound + 1 < bounds_.size() && bounds_[place.bound + 1].address <= to)
    bounds_[place.bound + 1].address = entry(place.bound + 1, 0).address;
}

std::optional<OrderedAddresses::Entry> OrderedAddresses::find_first_above(std::uint64_t address) const {
  if (bounds_.empty()) return std::nullopt;
  const Place place = place_above(address);
  if (place.at < pages_[bounds_[place.bound].page].count) return entry(place.bound, place.at);
  if (place.bound + 1 < bounds_.size()) return entry(place.bound + 1, 0);
  return std::nullopt;
}

std::optional<OrderedAddresses::Entry> OrderedAddresses::find_last_not_above(std::uint64_t address) const {
  if (bounds_.empty()) return std::nullopt;
  const Place place = place_above(address);
  if (place.at > 0) return entry(place.bound, place.at - 1);
  if (place.bound == 0) return std::nullopt;
  return entry(place.bound - 1, pages_[bounds_[place.bound - 1].page].count - 1);
}

void OrderedAddresses::clear() {
  pages_.clear();
  bounds_.clear();
  unused_.clear();
  size_ = 0;
}

}  // namespace hbmscope
