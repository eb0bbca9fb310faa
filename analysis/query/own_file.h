// Which file of a stack names whose memory it is: the one rule of own_code.h and trace_own_code.h. A person's Python
// calls C++ that is neither theirs nor in a folder that says so, so the innermost program counts before any other code.
#pragma once

#include <cstdint>
#include <string_view>

namespace hbmscope {

enum class FileOwner : std::uint8_t {
  library,  // Or no file at all.
  code,     // Of the person, or not known to be a library: counts where the stack has no program.
  program,  // Python, a notebook's cell, a workload of `tpu run` (JSON).
};

FileOwner owner_of_file(std::string_view file);

}  // namespace hbmscope
