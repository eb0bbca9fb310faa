// Which workloads there are, and one of them at work.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "allocator/workload/device.h"

namespace hbmscope::allocator::workload {

struct Description {
  std::string_view name;   // "training", as a command names it.
  std::string_view title;  // What a person calls it.
  std::string_view shows;  // What to look at, one sentence.
};
std::span<const Description> all_workloads();

class Workload {
 public:
  virtual ~Workload() = default;
  // One step of training, one request of a server. After an OutOfMemory it goes on with the next step, having given
  // back what a program would.
  virtual void step(Device& device) = 0;
};

// Null: there is none of that name. The same seed makes the same requests.
std::unique_ptr<Workload> make_workload(std::string_view name, std::uint64_t seed);

}  // namespace hbmscope::allocator::workload
