#include "allocator/reference/interface/cuda_memory.h"

#include <limits>

namespace hbmscope::allocator {

using cuda::success;

std::optional<Claim> CudaMemory::claim(std::uint64_t bytes) {
  if (bytes > std::numeric_limits<std::uint64_t>::max() - granularity_) return {};
  Claim claim{0, (bytes + granularity_ - 1) / granularity_ * granularity_};
  const cuda::Entered entered(*device_.driver, device_.context);
  if (device_.driver->allocate(&claim.base, claim.bytes) != success) return {};
  return claim;
}

void CudaMemory::release(const Claim& claim) {
  const cuda::Entered entered(*device_.driver, device_.context);
  device_.driver->free(claim.base);
}

std::uint64_t CudaMemory::page_bytes() {
  if (page_bytes_ != 0) return page_bytes_;
  cuda::AllocationProperties properties;
  properties.location.id = device_.ordinal;
  std::size_t bytes = 0;
  if (device_.driver->granularity(&bytes, &properties, 1) == success) page_bytes_ = bytes;
  return page_bytes_;
}

std::optional<std::uint64_t> CudaMemory::reserve(std::uint64_t bytes) {
  const cuda::Entered entered(*device_.driver, device_.context);
  std::uint64_t address = 0;
  if (page_bytes() == 0 || device_.driver->reserve(&address, bytes, page_bytes(), 0, 0) != success) return {};
  return address;
}

void CudaMemory::unreserve(const Claim& addresses) {
  const cuda::Entered entered(*device_.driver, device_.context);
  device_.driver->unreserve(addresses.base, addresses.bytes);
}

// Mapped memory survives the release of its handle, until it is unmapped.
bool CudaMemory::map_page(std::uint64_t address, std::uint64_t bytes) {
  cuda::AllocationProperties properties;
  properties.location.id = device_.ordinal;
  std::uint64_t handle = 0;
  if (device_.driver->create(&handle, bytes, &properties, 0) != success) return false;
  const bool is_mapped = device_.driver->map(address, bytes, 0, handle, 0) == success;
  device_.driver->release(handle);
  if (!is_mapped) return false;
  cuda::Access access;
  access.location.id = device_.ordinal;
  if (device_.driver->set_access(address, bytes, &access, 1) == success) return true;
  device_.driver->unmap(address, bytes);
  return false;
}

bool CudaMemory::map(const Claim& addresses) {
  const cuda::Entered entered(*device_.driver, device_.context);
  const std::uint64_t page = page_bytes();
  if (page == 0 || addresses.bytes % page != 0) return false;
  for (std::uint64_t done = 0; done < addresses.bytes; done += page) {
    if (map_page(addresses.base + done, page)) continue;
    if (done > 0) device_.driver->unmap(addresses.base, done);
    return false;
  }
  return true;
}

void CudaMemory::unmap(const Claim& addresses) {
  const cuda::Entered entered(*device_.driver, device_.context);
  device_.driver->unmap(addresses.base, addresses.bytes);
}

}  // namespace hbmscope::allocator
