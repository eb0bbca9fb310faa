// The same requests on a GPU: JAX's pool (allocator/xla_gpu) with as many bytes as the TPU's usable HBM. It can't move
// blocks. Sizes are those of the TPU, so that only the runtimes differ. A program's temporaries are one buffer while it
// runs, as in XLA:GPU.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "allocator/catalog/catalog.h"
#include "allocator/upstream/virtual_addresses.h"

namespace hbmscope::allocator::tpu {

class GpuPool {
 public:
  explicit GpuPool(std::uint64_t bytes);

  std::optional<Allocation> allocate(std::uint64_t bytes);
  void free(std::uint64_t address) { allocator_->free(address); }
  const Allocator& allocator() const { return *allocator_; }
  static std::string_view version();  // Of the allocator, with its certainty.
  std::uint64_t base() const { return base_; }

 private:
  VirtualAddresses upstream_;
  std::unique_ptr<Allocator> allocator_;
  std::uint64_t base_ = 0;
};

}  // namespace hbmscope::allocator::tpu
