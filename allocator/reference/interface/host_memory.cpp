#include "allocator/reference/interface/host_memory.h"

#include <sys/mman.h>

#include <limits>

namespace hbmscope::allocator {
namespace {

constexpr std::uint64_t alignment = std::uint64_t{2} << 20;  // That of the driver's regions.

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace

HostMemory::~HostMemory() {
  for (const auto& [base, bytes] : taken_) munmap(pointer(base), bytes);
}

bool HostMemory::has_left(std::uint64_t bytes) const {
  return !options_.limit_bytes || bytes <= *options_.limit_bytes - claimed_bytes_;
}

// Maps more than requested, and returns the parts before and after the aligned range.
std::optional<std::uint64_t> HostMemory::take_addresses(std::uint64_t bytes, int protection) {
  if (bytes > std::numeric_limits<std::uint64_t>::max() - alignment) return {};
  void* const got = mmap(nullptr, bytes + alignment, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return {};
  const auto begin = reinterpret_cast<std::uint64_t>(got);
  const std::uint64_t base = (begin + alignment - 1) / alignment * alignment;
  if (base > begin) munmap(got, base - begin);
  munmap(pointer(base + bytes), alignment - (base - begin));
  taken_.emplace(base, bytes);
  return base;
}

std::optional<Claim> HostMemory::claim(std::uint64_t bytes) {
  if (bytes > std::numeric_limits<std::uint64_t>::max() - options_.granularity) return {};
  const std::uint64_t rounded = (bytes + options_.granularity - 1) / options_.granularity * options_.granularity;
  if (!has_left(rounded)) return {};
  const auto base = take_addresses(rounded, PROT_READ | PROT_WRITE);
  if (!base) return {};
  claimed_bytes_ += rounded;
  return Claim{*base, rounded};
}

void HostMemory::release(const Claim& claim) {
  const auto found = taken_.find(claim.base);
  if (found == taken_.end()) return;
  munmap(pointer(claim.base), found->second);
  claimed_bytes_ -= found->second;
  taken_.erase(found);
}

std::optional<std::uint64_t> HostMemory::reserve(std::uint64_t bytes) {
  return take_addresses((bytes + options_.granularity - 1) / options_.granularity * options_.granularity, PROT_NONE);
}

void HostMemory::unreserve(const Claim& addresses) {
  const auto found = taken_.find(addresses.base);
  if (found == taken_.end()) return;
  munmap(pointer(addresses.base), found->second);
  taken_.erase(found);
}

bool HostMemory::map(const Claim& addresses) {
  if (!has_left(addresses.bytes)) return false;
  if (mprotect(pointer(addresses.base), addresses.bytes, PROT_READ | PROT_WRITE) != 0) return false;
  claimed_bytes_ += addresses.bytes;
  return true;
}

// Releases the pages and keeps the addresses.
void HostMemory::unmap(const Claim& addresses) {
  void* const emptied = mmap(pointer(addresses.base), addresses.bytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  // If the system has no mappings left, the pages stay, but they are inaccessible.
  if (emptied == MAP_FAILED) mprotect(pointer(addresses.base), addresses.bytes, PROT_NONE);
  claimed_bytes_ -= addresses.bytes;
}

}  // namespace hbmscope::allocator
