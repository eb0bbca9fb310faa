// The machine code that is placed in a job. It borrows one thread for some microseconds: the thread creates a new
// thread and continues where it was, with all its registers. The new thread loads the collector. The injected code
// completes by itself: the process that borrowed the thread may be gone a moment later.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hbmscope::attach {

// Parameters of the code; all addresses are in the job.
struct InjectedCall {
  std::uint64_t region = 0;            // An address with attach_region_bytes of free address space.
  std::uint64_t vector_registers = 0;  // The mask for XSAVE.
  std::uint64_t errno_location = 0, pthread_create = 0, dlopen = 0, dlsym = 0, dlerror = 0;
  std::uint64_t library = 0, function = 0, observer = 0;  // Addresses of strings.
};

// Bytes of the code with its parameters, to be placed at a multiple of 16.
std::uint64_t injected_code_bytes();
// The borrowed thread enters at `entry` bytes after the start. Its stack pointer is below the area that it must not
// touch, and points to the address where it continues afterwards.
struct InjectedCode {
  std::vector<std::uint8_t> bytes;
  std::uint64_t entry = 0;
};
InjectedCode make_injected_code(const InjectedCall& call);

}  // namespace hbmscope::attach
