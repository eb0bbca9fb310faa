// XLA names an operation by its path in the program, "jit(step)/jvp()/mul", and the source line that made it. As a
// stack: the parts from the outermost in, below their callers, with the line at the last part.
#pragma once

#include <cstdint>
#include <string_view>

#include "collector/wire/stream_writer.h"

namespace hbmscope {

// An empty name returns the callers' stack.
inline std::uint32_t define_op_name_stack(wire::StreamWriter& writer, std::string_view op_name, std::string_view file,
                                          std::uint32_t line, std::uint32_t callers = 0) {
  std::uint32_t stack = callers;
  while (!op_name.empty()) {
    const std::size_t slash = op_name.find('/');
    const bool is_last = slash == std::string_view::npos;
    const std::uint32_t frame =
        is_last ? writer.define_frame(op_name, file, line) : writer.define_frame(op_name.substr(0, slash), {}, 0);
    stack = writer.define_stack(stack, frame);
    op_name = is_last ? std::string_view() : op_name.substr(slash + 1);
  }
  return stack;
}

}  // namespace hbmscope
