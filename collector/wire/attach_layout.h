// A page of memory in a job that hbmscope attaches to. The injected code, the library that it loads and the attaching
// hbmscope use it to report their progress to each other. Offsets are fixed, because assembly writes some fields
// (collector/attach/injected_code.cpp). Each field has one writer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::wire {

struct AttachControl {
  // Written by the borrowed thread.
  std::uint64_t thread = 0;       // pthread_t of the thread that it created.
  std::uint64_t signals_all = 0;  // Signal sets: all signals, and those that the borrowed thread had blocked.
  std::uint64_t signals_before = 0;
  std::int32_t create_error = 0;  // The result of pthread_create.
  std::uint32_t has_left = 0;     // 1: the borrowed thread no longer needs this memory.
  // Written by the new thread: first by the assembly, then by the library.
  std::uint32_t state = 0;        // attach_state
  std::uint32_t words_bytes = 0;  // Length of `words`.
  // Written by the attaching hbmscope.
  std::uint32_t is_read = 0;  // 1: it has read the state, and the memory may be released.
  std::uint32_t unused = 0;
  char words[512] = {};  // The error.
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
constexpr std::uint32_t thread_runs = 1;   // The thread loads the library.
constexpr std::uint32_t library_runs = 2;  // The library was called.
constexpr std::uint32_t is_attached = 3;
constexpr std::uint32_t failed = 4;  // `words` says why, and none of our code runs any more.
}  // namespace attach_state

// The whole region: the control, the saved vector registers of the borrowed thread, and a stack for it.
constexpr std::uint64_t attach_registers_offset = 4096;
constexpr std::uint64_t attach_region_bytes = std::uint64_t{128} << 10;

// The function that the library exports: void hbmscope_attach_1(AttachControl*, const char* observer_socket). The
// path's zero byte is followed by one more text, an option: empty, or `no-cupti`, which does not use CUPTI.
constexpr const char* attach_without_cupti = "no-cupti";
// The number changes with this layout, so a library of another version lacks the function.
constexpr const char* attach_function = "hbmscope_attach_1";

}  // namespace hbmscope::wire
