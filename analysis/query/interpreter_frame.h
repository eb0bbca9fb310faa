// Frames of the Python interpreter's own C functions, and of what starts programs and threads. A stack of C++ and
// Python has three or four of them for each Python call (`_PyEval_EvalFrameDefault`, `method_vectorcall`,
// `slot_tp_call`); each stands in nearly every stack, and none says whose memory it is.
//
// PyTorch's own viewer leaves the like out (torch/cuda/_memory_viz.py, _frame_filter), by fewer names.
#pragma once

#include <string_view>

namespace hbmscope {

// By the function's name, as a symbol table or C++ has it, and by its file: none, the interpreter's or the C library's
// own. A person's function of such a name has a source file that says so.
bool is_interpreter_frame(std::string_view function, std::string_view file);

}  // namespace hbmscope
