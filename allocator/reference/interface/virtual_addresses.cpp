#include "allocator/reference/interface/virtual_addresses.h"

#include <limits>

namespace hbmscope::allocator {
namespace {

constexpr std::uint64_t address_max = std::numeric_limits<std::uint64_t>::max();

// No value if the multiple exceeds 64 bits.
std::optional<std::uint64_t> round_up(std::uint64_t value, std::uint64_t step) {
  const std::uint64_t rest = value % step;
  if (rest == 0) return value;
  if (value > address_max - (step - rest)) return {};
  return value + (step - rest);
}

}  // namespace

std::optional<std::uint64_t> VirtualAddresses::find_gap(std::uint64_t bytes) const {
  std::uint64_t base = lowest;
  for (const auto& [begin, size] : taken_) {
    // Room for the region, and 2 MiB before the next one begins.
    if (begin >= base && begin - base >= apart && begin - base - apart >= bytes) return base;
    const auto behind = round_up(begin + size + apart, apart);
    if (!behind) return {};
    base = *behind;
  }
  return base;
}

std::optional<std::uint64_t> VirtualAddresses::place(std::uint64_t bytes) {
  if (options_.placement == Placement::descending) {
    if (ceiling_ < bytes) return {};
    const std::uint64_t base = (ceiling_ - bytes) / apart * apart;
    ceiling_ = base < apart ? 0 : base - apart;
    return base;
  }
  const auto base = options_.placement == Placement::reuse ? find_gap(bytes) : std::optional(next_);
  if (!base || bytes > address_max - 2 * apart - *base) return {};
  if (options_.placement == Placement::ascending) next_ = *round_up(*base + bytes + apart, apart);
  return base;
}

bool VirtualAddresses::has_left(std::uint64_t bytes) const {
  if (!options_.device_bytes) return true;
  return claimed_bytes_ <= *options_.device_bytes && bytes <= *options_.device_bytes - claimed_bytes_;
}

std::optional<Claim> VirtualAddresses::claim(std::uint64_t bytes) {
  const auto rounded = round_up(bytes, options_.granularity);
  if (!rounded || *rounded == 0 || !has_left(*rounded)) return {};
  const auto base = place(*rounded);
  if (!base) return {};
  taken_.emplace(*base, *rounded);
  claimed_bytes_ += *rounded;
  return Claim{*base, *rounded};
}

void VirtualAddresses::release(const Claim& claim) {
  const auto found = taken_.find(claim.base);
  if (found == taken_.end()) return;
  claimed_bytes_ -= found->second;
  taken_.erase(found);
}

std::optional<std::uint64_t> VirtualAddresses::reserve(std::uint64_t bytes) {
  const auto base = place(bytes);
  if (base) taken_.emplace(*base, bytes);
  return base;
}

void VirtualAddresses::unreserve(const Claim& addresses) {
  taken_.erase(addresses.base);
}

bool VirtualAddresses::map(const Claim& addresses) {
  if (!has_left(addresses.bytes)) return false;
  claimed_bytes_ += addresses.bytes;
  return true;
}

void VirtualAddresses::unmap(const Claim& addresses) {
  claimed_bytes_ -= addresses.bytes;
}

}  // namespace hbmscope::allocator
