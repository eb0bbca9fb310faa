// The programs and libraries that contain the addresses of a stack. Each is reported to the observer when a stack first
// contains one of its addresses; the observer finds the function names. This also finds the code that takes stacks,
// wherever it was loaded from: the unwinder (native_frames.h) and the Python interpreter (python_frames.h).
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// Notices what was loaded and unloaded since the last call, and returns the number of unloads so far. Takes the
// loader's lock, as an unwinder may too, so none of our locks may be held.
std::uint64_t look_at_loaded_code();
// The module's id, or 0 if no module contains the address, or there was no room for it.
std::uint32_t module_of_code(std::uint64_t address);

struct CodeRange {
  std::uint64_t begin = 0, end = 0;
  bool has(std::uint64_t address) const { return address - begin < end - begin; }
};
// Code of hbmscope, the driver or CUPTI, which only reports a call and is not part of the caller's stack.
bool is_code_of_telling(std::uint64_t address);

// Called in a child after fork(): another thread of the parent may have been in the middle of a change.
void forget_code_modules();

}  // namespace hbmscope::inject
