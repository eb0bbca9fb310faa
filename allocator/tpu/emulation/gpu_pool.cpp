#include "allocator/tpu/emulation/gpu_pool.h"

namespace hbmscope::allocator::tpu {
namespace {

AllocatorOptions options_of(std::uint64_t bytes) {
  xla_gpu::Options options;
  options.limit_bytes = bytes;
  return options;
}

}  // namespace

GpuPool::GpuPool(std::uint64_t bytes) : upstream_({}), allocator_(make_allocator(options_of(bytes), upstream_)) {
  // The pool is claimed at the first request. A first allocation, freed at once, makes it exist from the beginning.
  if (const auto first = allocate(1)) free(first->address);
  const auto claims = allocator_->claims();
  base_ = claims.empty() ? 0 : claims.front().base;
}

std::optional<Allocation> GpuPool::allocate(std::uint64_t bytes) {
  const Allocation got = allocator_->allocate({.bytes = bytes});
  if (got.outcome != Outcome::allocated) return std::nullopt;
  return got;
}

std::string_view GpuPool::version() {
  return xla_gpu::rules_of(xla_gpu::Options{}.version).name;
}

}  // namespace hbmscope::allocator::tpu
