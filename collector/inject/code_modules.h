// The programs and libraries whose code a stack's addresses are in: each is told to the observer, which finds out what
// is at an address, when a stack first has one of it. With them is found what stacks are taken with: the unwinder
// (native_frames.h) and the Python interpreter (python_frames.h), wherever they were loaded from.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// Notices what was loaded and unloaded since; says how often something was unloaded so far. Takes the loader's lock, as
// an unwinder may too; so no lock of ours may be held.
std::uint64_t look_at_loaded_code();
// The module's id; 0: none has the address, or there was no room for it.
std::uint32_t module_of_code(std::uint64_t address);

struct CodeRange {
  std::uint64_t begin = 0, end = 0;
  bool has(std::uint64_t address) const { return address - begin < end - begin; }
};
// Ours, the driver's and CUPTI's: what is called to tell of a call is no part of who called.
bool is_code_of_telling(std::uint64_t address);

// In a child after fork(): another thread of the parent's may have been in the middle of anything.
void forget_code_modules();

}  // namespace hbmscope::inject
