// Memory of a GPU, from its driver: a region is one cuMemAlloc; reserved addresses get memory by cuMemCreate and
// cuMemMap. May be called from any thread, one at a time, whatever context is current.
#pragma once

#include "allocator/upstream/cuda_driver.h"
#include "allocator/upstream/upstream.h"

namespace hbmscope::allocator {

class CudaMemory final : public Upstream {
 public:
  // Regions are rounded up to `granularity` bytes, above 0.
  CudaMemory(const cuda::OpenDevice& device, std::uint64_t granularity) : device_(device), granularity_(granularity) {}

  std::optional<Claim> claim(std::uint64_t bytes) override;
  void release(const Claim& claim) override;
  std::optional<std::uint64_t> reserve(std::uint64_t bytes) override;
  void unreserve(const Claim& addresses) override;
  // In multiples of what the driver maps at a time, 2 MiB so far. Each piece of that size is memory of its own: so any
  // number of them can go.
  bool map(const Claim& addresses) override;
  void unmap(const Claim& addresses) override;

 private:
  std::uint64_t page_bytes();  // What the driver maps at a time; 0: it does not map.
  bool map_page(std::uint64_t address, std::uint64_t bytes);

  const cuda::OpenDevice device_;
  const std::uint64_t granularity_;
  std::uint64_t page_bytes_ = 0;  // 0: not asked yet.
};

}  // namespace hbmscope::allocator
