// Where an allocator takes its regions from. An allocator decides which address a request gets; an upstream decides
// which addresses there are at all: addresses with no memory behind them, for what-ifs of any size on any machine, or
// memory of a real device. Allocators compose over it, and own what they claimed until they release it.
#pragma once

#include <cstdint>
#include <optional>

namespace hbmscope::allocator {

struct Claim {
  std::uint64_t base = 0;   // First address.
  std::uint64_t bytes = 0;  // What was given: at least what was asked, more where the upstream has a granularity.
};

class Upstream {
 public:
  virtual ~Upstream() = default;
  // Nothing where it has no more: a refusal, as cuMemAlloc's out-of-memory is one. `bytes` is above 0.
  virtual std::optional<Claim> claim(std::uint64_t bytes) = 0;
  // Exactly what claim() gave, once.
  virtual void release(const Claim& claim) = 0;

  // Addresses alone, to put memory under piece by piece, as cuMemAddressReserve does; their first. Nothing where there
  // are not so many left, or the upstream knows no such thing.
  virtual std::optional<std::uint64_t> reserve(std::uint64_t /*bytes*/) { return {}; }
  // Exactly what reserve() gave, once, with no memory under it any more.
  virtual void unreserve(const Claim& /*addresses*/) {}
  // Memory under reserved addresses that have none (cuMemCreate and cuMemMap), or away from them again: any part of
  // what was mapped. False: it has no more memory.
  virtual bool map(const Claim& /*addresses*/) { return false; }
  virtual void unmap(const Claim& /*addresses*/) {}
};

}  // namespace hbmscope::allocator
