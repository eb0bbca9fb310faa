// Runs the workload's steps on the pool of a GPU: the same buffers, one more for a program's temporaries while it runs,
// and no moves.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "allocator/tpu/emulation/event_log.h"
#include "allocator/tpu/emulation/gpu_pool.h"

namespace hbmscope::allocator::tpu {

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
