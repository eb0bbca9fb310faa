// Whose is a frame of a stack? The one rule behind "your code", for profiles (user_code.h) and traces
// (trace_user_code.h) of all formats.
#pragma once

#include <string_view>

#include "analysis/query/own_file.h"

namespace hbmscope {

// The owner of the file (own_file.h), except that the interpreter's functions and those that start threads
// (interpreter_frame.h) are nobody's code, whatever file contains them.
FileOwner owner_of_frame(FileOwner of_file, std::string_view function, std::string_view file);

// True for the functions with which PyTorch's autograd engine begins and runs its threads
// (torch/csrc/autograd/engine.h, python_engine.h: Engine::thread_init, thread_main). Their stacks are those of backward
// passes; they have no frame of the program that called backward(), which waits in another thread.
bool is_autograd_thread_frame(std::string_view function);

// Between every two modules of PyTorch: torch.nn.Module.__call__, which says nothing of either. "_call_impl",
// "Module._wrapped_call_impl" in torch/nn/modules/module.py; of a recording without paths only the last part is known.
bool is_module_call(std::string_view function, std::string_view file);

// What readers write in place of a file of which nothing is known. A stack of such frames alone says nothing of the
// code: for example what PyTorch's profiler reports as in use before the profile began.
constexpr std::string_view unknown_file = "<unknown>";

// What to show for a stack without a frame in your code.
constexpr std::string_view autograd_thread_label = "(autograd thread)";
constexpr std::string_view library_only_label = "(library code only)";
constexpr std::string_view no_stack_label = "(no stack was recorded)";

// The same for a sum over all stacks without a line of your code, those of autograd threads apart.
constexpr std::string_view text_without_line(bool is_autograd_thread) {
  return is_autograd_thread ? autograd_thread_label : "(library code only, or no stack)";
}

}  // namespace hbmscope
