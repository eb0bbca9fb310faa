// What ends together: a context's blocks, and a module's variables. A block says whose it is by a small number; which
// blocks there are the observer knows, so that the end of an owner is one row (ring_layout.h, `blocks_of`).
//
// What a context has is told from the calls that its threads make: cuMemAlloc and its like, arrays, pinned memory.
// Memory of pools and handles of physical memory are nobody's, and outlive it.
#pragma once

#include "collector/inject/driver_rows.h"

namespace hbmscope::inject::driver {

// Of the calling thread's context; 0: it has none, it is not known, or there were too many.
std::uint32_t number_of_context(const DriverCall& call);
constexpr std::uint32_t flags_of_owner(std::uint32_t number) {
  return number << wire::owner_shift;
}

struct Variable {
  std::uint32_t owner = 0;
  bool is_told = false;  // It was asked for before.
  bool is_kept = false;  // It is known from now on that it was told.
};
Variable note_variable(const DriverCall& call, Object module, Address at);
void forget_told_variables();  // The rings are new ones.

}  // namespace hbmscope::inject::driver
