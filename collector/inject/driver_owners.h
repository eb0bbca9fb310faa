// Things that end together: the blocks of a context, and the variables of a module. A block names its owner by a small
// number. The observer knows all blocks, so the end of an owner is one row (ring_layout.h, `blocks_of`).
//
// With HIP a device counts as the context of all memory on it (hip_calls.h). With CUDA a context owns arrays, pinned
// memory, and what its threads allocate with cuMemAlloc and the like. Pool memory and handles of physical memory have
// no owner and outlive it.
#pragma once

#include "collector/inject/driver_rows.h"

namespace hbmscope::inject::driver {

// The owner number of the calling thread's context, or 0 if it has none, it is unknown, or there were too many.
std::uint32_t number_of_context(const DriverCall& call);
std::uint32_t number_of_context(Object context);
constexpr std::uint32_t flags_of_owner(std::uint32_t number) {
  return number << wire::owner_shift;
}

struct Variable {
  std::uint32_t owner = 0;
  bool is_reported = false;  // The program requested it before.
  bool is_kept = false;      // Whether it is remembered that the variable was recorded.
};
Variable note_variable(const DriverCall& call, Object module, Address at);
void forget_reported_variables();  // The rings are new, so variables must be reported again.

}  // namespace hbmscope::inject::driver
