// The calling thread's stack of Python code, read from the interpreter's own structures. That needs no GIL: a thread's
// frames belong to it, and it is here. Nothing of Python's API is called but PyGILState_GetThisThreadState, which is a
// pthread_getspecific, and the question whether it is ending.
//
// The structures are those of 3.11, 3.12 and 3.13 (Include/internal/pycore_frame.h, Include/cpython/code.h of each),
// and that an object is what it should be is looked at before it is read. Of other versions the native stack is told.
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
  unsigned long version = 0;  // As Py_Version; 0: from before 3.11.
  CodeRange code{};           // Where its own functions are.
};

class PythonSearch {
 public:
  // An object that is loaded, with the loader's lock held.
  void look_into(const dl_phdr_info& object, const CodeRange& range);
  void publish() const;

 private:
  PythonInterpreter found_;
  bool is_still_there_ = false;  // The one that is known.
};

// Whether the thread runs Python, of a version that is known.
bool has_python_frames();
// Innermost first. Returns how many; `is_cut`: there are more. What a frame's code object is called is part of its key,
// as another one may come to lie there when this one is gone.
std::size_t walk_python(StackFrame* frames, std::size_t max, bool& is_cut);
// The interpreter's own, below which its frames are of no interest; nothing where none is known.
CodeRange python_code();

// What a frame is called, into texts of `text_bytes_max`, which are cut.
constexpr std::size_t python_text_bytes_max = 1024;
struct PythonPosition {
  char function[python_text_bytes_max];
  char file[python_text_bytes_max];
  std::uint32_t line;  // 0: unknown.
};
void describe(const StackFrame& frame, PythonPosition& position);

void forget_python();  // In a child after fork().

}  // namespace hbmscope::inject
