// The virtual functions of tsl::Allocator, in their order (tsl/framework/allocator.h; the newer order since JAX 0.11),
// so that a library with a class of this name has the same table as a plugin of JAX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tsl {

struct AllocationAttributes {
  bool retry_on_failure = true;
  bool allocation_will_be_logged = false;
};

struct AllocatorStats {
  std::int64_t num_allocs = 0, bytes_in_use = 0, peak_bytes_in_use = 0, largest_alloc_size = 0;
  std::optional<std::int64_t> bytes_limit;
  std::int64_t bytes_reserved = 0, peak_bytes_reserved = 0;
  std::optional<std::int64_t> bytes_reservable_limit;
#ifdef NEWER_ORDER
  std::int64_t one_more = 0;
#endif
  std::int64_t largest_free_block_bytes = 0;
  std::optional<std::int64_t> pool_bytes, peak_pool_bytes;
};

enum class AllocatorMemoryType { unknown, device, host_pageable, host_pinned };

class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual std::string Name() = 0;
  virtual void* AllocateRaw(std::size_t alignment, std::size_t bytes) = 0;
  virtual void* AllocateRaw(std::size_t alignment, std::size_t bytes, const AllocationAttributes&) = 0;
#ifdef NEWER_ORDER
  virtual void* AllocateRawAlignedNew(std::size_t, std::size_t) {
    return nullptr;
  }
  virtual void* AllocateRawAlignedNew(std::size_t, std::size_t, const AllocationAttributes&) {
    return nullptr;
  }
#endif
  virtual void DeallocateRaw(void* block) = 0;
  virtual void DeallocateRaw(void* block, std::size_t, std::size_t) {
    DeallocateRaw(block);
  }
#ifdef NEWER_ORDER
  virtual void DeallocateRawAlignedDelete(void*, std::size_t, std::size_t) {}
#endif
  virtual bool TracksAllocationSizes() const {
    return true;
  }
  virtual bool AllocatesOpaqueHandle() const {
    return false;
  }
  virtual std::size_t RequestedSize(const void* block) const = 0;
  virtual std::size_t AllocatedSize(const void* block) const = 0;
  virtual std::int64_t AllocationId(const void*) const {
    return 0;
  }
  virtual std::size_t AllocatedSizeSlow(const void*) const {
    return 0;
  }
  virtual std::optional<AllocatorStats> GetStats() = 0;
  virtual bool ClearStats() {
    return false;
  }
  virtual void SetSafeFrontier(std::uint64_t) {}
  virtual bool SetStreamAndPreallocateMemory(void*) {
    return false;
  }
  virtual AllocatorMemoryType GetMemoryType() const = 0;
};

}  // namespace tsl
