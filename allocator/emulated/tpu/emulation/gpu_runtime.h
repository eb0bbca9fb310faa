// Runs the workload's steps on the pool of a GPU: the same buffers, one more for a program's temporaries while it runs,
// and no moves.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "allocator/emulated/tpu/emulation/event_log.h"
#include "allocator/reference/catalog/catalog.h"
#include "allocator/reference/interface/virtual_addresses.h"

namespace hbmscope::allocator::tpu {

// The same requests on a GPU: JAX's pool (allocator/reference/xla_gpu) with as many bytes as the TPU's usable HBM. It
// can't move blocks. Sizes are those of the TPU, so that only the runtimes differ. A program's temporaries are one
// buffer while it runs, as in XLA:GPU.
class GpuPool {
 public:
  explicit GpuPool(std::uint64_t bytes);

  std::optional<Allocation> allocate(std::uint64_t bytes);
  void free(std::uint64_t address) { allocator_->free(address); }
  const Allocator& allocator() const { return *allocator_; }
  static std::string_view version();  // The allocator's, with its certainty.
  std::uint64_t base() const { return base_; }

 private:
  VirtualAddresses upstream_;
  std::unique_ptr<Allocator> allocator_;
  std::uint64_t base_ = 0;
};

class GpuRuntime {
 public:
  GpuRuntime(const Workload& workload, EventLog& log, Emulation& out);

  // A step that fails changes nothing. The job goes on, because the TPU's job does.
  void take(const Step& step, std::size_t number);
  void finish();

 private:
  struct Taken {
    std::uint64_t address = 0, bytes = 0;
  };
  std::optional<Taken> allocate(std::uint64_t bytes, std::uint64_t requested, const std::string& name,
                                const Array* array);
  void release(const Taken& taken);
  void drop(const std::string& name);
  void run(const Step& step);

  const Workload& workload_;
  EventLog& log_;
  Emulation& out_;
  GpuPool pool_;
  std::size_t step_ = 0;
  std::map<std::string, Taken> buffers_;
};

}  // namespace hbmscope::allocator::tpu
