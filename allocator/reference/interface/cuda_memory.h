// GPU memory from the driver. A region is one cuMemAlloc; reserved addresses get memory from cuMemCreate and cuMemMap.
// Callable from any thread, one at a time, whatever context is current.
#pragma once

#include "allocator/reference/interface/cuda_driver.h"
#include "allocator/reference/interface/upstream.h"

namespace hbmscope::allocator {

class CudaMemory final : public Upstream {
 public:
  // Regions are rounded up to a multiple of `granularity` bytes, above 0.
  CudaMemory(const cuda::OpenDevice& device, std::uint64_t granularity) : device_(device), granularity_(granularity) {}

  std::optional<Claim> claim(std::uint64_t bytes) override;
  void release(const Claim& claim) override;
  std::optional<std::uint64_t> reserve(std::uint64_t bytes) override;
  void unreserve(const Claim& addresses) override;
  // In multiples of the driver's mapping granularity, 2 MiB so far. Each page of that size is a separate allocation, so
  // any number of them can be unmapped.
  bool map(const Claim& addresses) override;
  void unmap(const Claim& addresses) override;

 private:
  std::uint64_t page_bytes();  // The driver's mapping granularity, or 0 if it does not support mapping.
  bool map_page(std::uint64_t address, std::uint64_t bytes);

  const cuda::OpenDevice device_;
  const std::uint64_t granularity_;
  std::uint64_t page_bytes_ = 0;  // 0: not queried yet.
};

}  // namespace hbmscope::allocator
