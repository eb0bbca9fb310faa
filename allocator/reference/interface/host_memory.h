// Host memory from the operating system, for allocators that need real memory on any machine. A page takes memory when
// it is first written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "allocator/reference/interface/upstream.h"

namespace hbmscope::allocator {

struct HostOptions {
  std::optional<std::uint64_t> limit_bytes;  // The most that it hands out at a time; absent: the system's limit.
  std::uint64_t granularity = 4096;          // Sizes are rounded up to a multiple of it. Must be a multiple of a page.
};

class HostMemory final : public Upstream {
 public:
  explicit HostMemory(const HostOptions& options) : options_(options) {}
  ~HostMemory() override;  // Returns all of it.
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  std::optional<Claim> claim(std::uint64_t bytes) override;  // At a multiple of 2 MiB.
  void release(const Claim& claim) override;
  std::optional<std::uint64_t> reserve(std::uint64_t bytes) override;  // Also at a multiple of 2 MiB.
  void unreserve(const Claim& addresses) override;
  bool map(const Claim& addresses) override;  // In whole pages.
  void unmap(const Claim& addresses) override;
  std::uint64_t claimed_bytes() const { return claimed_bytes_; }

 private:
  bool has_left(std::uint64_t bytes) const;
  std::optional<std::uint64_t> take_addresses(std::uint64_t bytes, int protection);

  const HostOptions options_;
  std::uint64_t claimed_bytes_ = 0;
  std::map<std::uint64_t, std::uint64_t> taken_;  // Base -> bytes, of claims and of reservations.
};

}  // namespace hbmscope::allocator
