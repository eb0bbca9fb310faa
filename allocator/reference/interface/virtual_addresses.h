// Addresses without memory behind them: a device of any size, on a machine that has none. The position of regions
// decides which of two equally good blocks an allocator takes, so a replay must reproduce it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "allocator/reference/interface/upstream.h"

namespace hbmscope::allocator {

enum class Placement : std::uint8_t {
  ascending,   // From 0x100000000000 up: the next 2 MiB boundary at least 2 MiB after the previous region.
  descending,  // From 0x600000000000 down, at least 2 MiB below the previous region.
  reuse,       // The lowest place at or above 0x100000000000 that keeps 2 MiB from its neighbours.
};

struct VirtualOptions {
  std::optional<std::uint64_t> device_bytes;  // The most that it hands out at a time; absent: no limit.
  std::uint64_t granularity = 1;  // Sizes are rounded up to a multiple of it, as cuMemCreate's are. Above 0.
  Placement placement = Placement::ascending;
};

class VirtualAddresses final : public Upstream {
 public:
  explicit VirtualAddresses(const VirtualOptions& options) : options_(options) {}

  std::optional<Claim> claim(std::uint64_t bytes) override;
  void release(const Claim& claim) override;
  std::optional<std::uint64_t> reserve(std::uint64_t bytes) override;
  void unreserve(const Claim& addresses) override;
  bool map(const Claim& addresses) override;
  void unmap(const Claim& addresses) override;
  std::uint64_t claimed_bytes() const { return claimed_bytes_; }

 private:
  bool has_left(std::uint64_t bytes) const;
  std::optional<std::uint64_t> place(std::uint64_t bytes);
  std::optional<std::uint64_t> find_gap(std::uint64_t bytes) const;

  static constexpr std::uint64_t apart = std::uint64_t{2} << 20;
  static constexpr std::uint64_t lowest = 0x100000000000;

  VirtualOptions options_;
  std::uint64_t claimed_bytes_ = 0;
  std::uint64_t next_ = lowest;                   // Ascending: no region begins below it.
  std::uint64_t ceiling_ = 0x600000000000;        // Descending: no region ends above it.
  std::map<std::uint64_t, std::uint64_t> taken_;  // Base -> bytes, of claims and of reservations.
};

}  // namespace hbmscope::allocator
