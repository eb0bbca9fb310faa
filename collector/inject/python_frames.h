// The calling thread's stack of Python code, read from the interpreter's data structures. That needs no GIL: a thread's
// frames belong to it, and this runs on that thread. Only two functions of Python's API are called:
// PyGILState_GetThisThreadState, which is a pthread_getspecific, and the one that reports whether the interpreter is
// shutting down.
//
// The structures are those of 3.11 to 3.14 (Include/internal/pycore_frame.h, since 3.14 pycore_interpframe_structs.h,
// and Include/cpython/code.h of each); each object is checked before it is read. For other versions only the native
// stack is recorded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/inject/code_modules.h"
#include "collector/inject/stack_frame.h"

struct dl_phdr_info;

namespace hbmscope::inject {

struct PythonInterpreter {
  void* (*thread_state)() = nullptr;  // PyGILState_GetThisThreadState
  int (*is_ending)() = nullptr;
  const void* code_type = nullptr;
  const void* text_type = nullptr;
  unsigned long version = 0;  // As Py_Version, or 0 before 3.11.
  CodeRange code{};           // The code of the interpreter itself.
};

class PythonSearch {
 public:
  // A loaded object, with the loader's lock held.
  void look_into(const dl_phdr_info& object, const CodeRange& range);
  void publish() const;

 private:
  PythonInterpreter found_;
  bool is_still_there_ = false;  // The known interpreter is still loaded.
};

// Whether the thread runs a supported version of Python.
bool has_python_frames();
// Innermost first. Returns the number of frames; `is_cut`: there are more. The name of a frame's code object is part of
// its key, because another code object may be at its address later.
std::size_t walk_python(StackFrame* frames, std::size_t max, bool& is_cut);
// The interpreter's own code; frames inside it are left out. Empty if no interpreter is known.
CodeRange python_code();

// The names of a frame, as texts of at most `text_bytes_max` bytes; longer ones are cut off.
constexpr std::size_t python_text_bytes_max = 1024;
struct PythonPosition {
  char function[python_text_bytes_max];
  char file[python_text_bytes_max];
  std::uint32_t line;  // 0: unknown.
};
void describe(const StackFrame& frame, PythonPosition& position);

void forget_python();  // In a child after fork().

}  // namespace hbmscope::inject
