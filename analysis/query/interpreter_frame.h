// Recognises frames of the Python interpreter's own C functions, and of functions that start programs and threads. A
// stack of C++ and Python has three or four of them per Python call (`_PyEval_EvalFrameDefault`, `method_vectorcall`,
// `slot_tp_call`). They are in nearly every stack and never identify whose memory it is.
//
// PyTorch's own viewer drops such frames too (torch/cuda/_memory_viz.py, _frame_filter), with a shorter list.
#pragma once

#include <string_view>

namespace hbmscope {

// By the function's name, as in a symbol table or in C++, and its file, which must be unknown, the interpreter's or the
// C library's. A user's function with such a name is recognised by its source file, except for names that are reserved
// for the system's libraries, such as `__clone3`.
bool is_interpreter_frame(std::string_view function, std::string_view file);

}  // namespace hbmscope
