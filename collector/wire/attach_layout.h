// A page of memory in a job that hbmscope attaches to, through which the code that was put there, the library that it
// loads, and the hbmscope that attaches exchange how far they are. Offsets are fixed: some of it is written by
// assembly (collector/attach/injected_code.cpp). Each field has one writer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::wire {

struct AttachControl {
  // The borrowed thread's.
  std::uint64_t thread = 0;       // pthread_t of the thread that it made.
  std::uint64_t signals_all = 0;  // Sets of signals: all, and those that the borrowed thread had blocked.
  std::uint64_t signals_before = 0;
  std::int32_t create_error = 0;  // Of pthread_create.
  std::uint32_t has_left = 0;     // 1: the borrowed thread needs this memory no more.
  // The new thread's: first of the assembly, then of the library.
  std::uint32_t state = 0;        // attach_state
  std::uint32_t words_bytes = 0;  // Of `words`.
  // The attaching hbmscope's.
  std::uint32_t is_read = 0;  // 1: it has seen the state, and the memory may go.
  std::uint32_t unused = 0;
  char words[512] = {};  // What went wrong.
};
static_assert(offsetof(AttachControl, thread) == 0);
static_assert(offsetof(AttachControl, signals_all) == 8);
static_assert(offsetof(AttachControl, signals_before) == 16);
static_assert(offsetof(AttachControl, create_error) == 24);
static_assert(offsetof(AttachControl, has_left) == 28);
static_assert(offsetof(AttachControl, state) == 32);
static_assert(offsetof(AttachControl, words_bytes) == 36);
static_assert(offsetof(AttachControl, is_read) == 40);
static_assert(offsetof(AttachControl, words) == 48);

namespace attach_state {
constexpr std::uint32_t thread_runs = 1;   // It loads the library.
constexpr std::uint32_t library_runs = 2;  // The library has been called.
constexpr std::uint32_t is_attached = 3;
constexpr std::uint32_t failed = 4;  // And `words` say why; nothing of us runs any more.
}  // namespace attach_state

// The whole region: the control, where the borrowed thread's vector registers are kept, and a stack for it.
constexpr std::uint64_t attach_registers_offset = 4096;
constexpr std::uint64_t attach_region_bytes = std::uint64_t{128} << 10;

// What the library exports for it: void hbmscope_attach_1(AttachControl*, const char* observer_socket). Behind the
// path's zero byte stands one more text, what is asked for: empty, or `no-cupti`, which leaves CUPTI alone.
constexpr const char* attach_without_cupti = "no-cupti";
// The number changes with this layout: a library of another version lacks it.
constexpr const char* attach_function = "hbmscope_attach_1";

}  // namespace hbmscope::wire
