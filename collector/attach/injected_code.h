// The machine code that is put into a job: one thread of it is borrowed for some microseconds, makes a new thread, and
// goes on where it was, with all its registers; the new thread loads the collector. It needs nobody to finish it: who
// set the borrowed thread on its way may be gone the moment after.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hbmscope::attach {

// What the code is told; addresses are the job's.
struct InjectedCall {
  std::uint64_t region = 0;            // Where attach_region_bytes of address space are free.
  std::uint64_t vector_registers = 0;  // Mask of XSAVE.
  std::uint64_t errno_location = 0, pthread_create = 0, dlopen = 0, dlsym = 0, dlerror = 0;
  std::uint64_t library = 0, function = 0, observer = 0;  // Texts.
};

// Bytes that the code takes with what it is told, to be placed at a multiple of 16.
std::uint64_t injected_code_bytes();
// The borrowed thread enters at `entry` behind the first byte, its stack pointer below what it may not touch, at the
// address where it goes on afterwards.
struct InjectedCode {
  std::vector<std::uint8_t> bytes;
  std::uint64_t entry = 0;
};
InjectedCode make_injected_code(const InjectedCall& call);

}  // namespace hbmscope::attach
