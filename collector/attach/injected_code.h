// The machine code that is put into a job: one of its threads is borrowed for some microseconds, makes a new thread,
// and continues where it was, with all its registers; the new thread loads the collector. Nobody has to finish it: the
// process that borrowed the thread may be gone a moment later.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hbmscope::attach {

// Parameters of the code; addresses are the job's.
struct InjectedCall {
  std::uint64_t region = 0;            // Where attach_region_bytes of address space are free.
  std::uint64_t vector_registers = 0;  // The mask for XSAVE.
  std::uint64_t errno_location = 0, pthread_create = 0, dlopen = 0, dlsym = 0, dlerror = 0;
  std::uint64_t library = 0, function = 0, observer = 0;  // Addresses of texts.
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
