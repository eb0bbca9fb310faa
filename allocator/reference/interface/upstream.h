// Where an allocator gets its regions. The allocator decides which address a request gets; the upstream decides which
// addresses exist: addresses without memory, for what-ifs of any size on any machine, or memory of a real device. An
// allocator owns what it claimed until it releases it.
#pragma once

#include <cstdint>
#include <optional>

namespace hbmscope::allocator {

struct Claim {
  std::uint64_t base = 0;  // First address.
  // The size that was given: at least the requested size, more if the upstream has a granularity.
  std::uint64_t bytes = 0;
};

class Upstream {
 public:
  virtual ~Upstream() = default;
  // No value: refused, like an out-of-memory error of cuMemAlloc. `bytes` must be above 0.
  virtual std::optional<Claim> claim(std::uint64_t bytes) = 0;
  // Takes exactly what claim() returned, once.
  virtual void release(const Claim& claim) = 0;

  // Reserves addresses without memory, to be mapped block by block, as cuMemAddressReserve does. Returns the first
  // address. No value: not enough addresses left, or not supported.
  virtual std::optional<std::uint64_t> reserve(std::uint64_t /*bytes*/) { return {}; }
  // Takes exactly what reserve() returned, once, after all its memory was unmapped.
  virtual void unreserve(const Claim& /*addresses*/) {}
  // Maps memory under reserved addresses that have none (cuMemCreate and cuMemMap), or unmaps any part of what was
  // mapped. False: no more memory.
  virtual bool map(const Claim& /*addresses*/) { return false; }
  virtual void unmap(const Claim& /*addresses*/) {}
};

}  // namespace hbmscope::allocator
