// Which file of a stack identifies whose memory it is; own_frame.h decides by frame. Python of the user
// may call C++ that is neither theirs nor recognisable as a library, so the innermost program file takes precedence
// over other code.
#pragma once

#include <cstdint>
#include <string_view>

namespace hbmscope {

enum class FileOwner : std::uint8_t {
  library,  // Or no file at all.
  code,     // The user's, or not known to be a library: counts if the stack has no program.
  program,  // Python, a notebook cell, a workload of `tpu run` (JSON).
};

FileOwner owner_of_file(std::string_view file);

// The same for native code whose source line is known. `binary`: the program or library that contains it; empty if it
// is unknown. What is in a program is the user's, except for templates of system headers. What is in a library that was
// installed is not, though the folder in which it was built looks like anybody's.
FileOwner owner_of_source(std::string_view file, std::string_view binary);

}  // namespace hbmscope
