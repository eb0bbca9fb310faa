// The Python traceback that a log shows before an error: its frames become the stack of the request.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hbmscope::log {

struct TracebackFrame {
  std::string function, file;
  std::uint32_t line = 0;
};

// Of the traceback that ends where `lines` ends, outermost first; empty: there is none. If `lines` begins later than
// the traceback, the outer frames are missing. `lines` have no prefixes.
std::vector<TracebackFrame> find_traceback(std::span<const std::string> lines);

}  // namespace hbmscope::log
