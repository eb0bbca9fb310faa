// The available workloads, and the interface of a running one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "allocator/emulated/workload/device.h"

namespace hbmscope::allocator::workload {

struct Description {
  std::string_view name;   // "training", as a command names it.
  std::string_view title;  // Its display name.
  std::string_view shows;  // What to look at, in one sentence.
};
std::span<const Description> all_workloads();

class Workload {
 public:
  virtual ~Workload() = default;
  // One step of training, or one request of a server. After an OutOfMemory the workload frees what a program would free
  // and continues with the next step.
  virtual void step(Device& device) = 0;
};

// Null: unknown name. The same seed produces the same requests.
std::unique_ptr<Workload> make_workload(std::string_view name, std::uint64_t seed);

}  // namespace hbmscope::allocator::workload
