// The programs and libraries that contain the addresses of a stack. Each is reported to the observer when a stack first
// has an address in it; the observer finds the function names. This also finds what takes the stacks: the unwinder
// (native_frames.h) and the Python interpreter (python_frames.h), wherever they were loaded from.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// Notices what was loaded and unloaded since the last call, and returns how many unloads there were so far. Takes the
// loader's lock, as an unwinder may too, so no lock of ours may be held.
std::uint64_t look_at_loaded_code();
// The module's id; 0 if no module has the address, or there was no room for it.
std::uint32_t module_of_code(std::uint64_t address);

struct CodeRange {
  std::uint64_t begin = 0, end = 0;
  bool has(std::uint64_t address) const { return address - begin < end - begin; }
};
// Our own code, the driver's and CUPTI's: it only reports the call and is not part of the caller's stack.
bool is_code_of_telling(std::uint64_t address);

// Called in a child after fork(): another thread of the parent may have been in the middle of a change.
void forget_code_modules();

}  // namespace hbmscope::inject
