// Parses one line of RMM's debug log (rmm_log.txt, or RMM_DEBUG_LOG_FILE):
//
//   [  9259][13:52:25:387699][info  ] ----- RMM LOG BEGIN [PTDS DISABLED] -----
//   [  9259][13:52:25:390211][trace ] [A][stream 0x2][1000B]
//   [  9259][13:52:25:390214][trace ] [A][stream 0x2][1024B][0x7f0a2c000000]
//   [  9259][13:52:25:391007][trace ] [D][stream 0x2][1024B][0x7f0a2c000000]
//   [  9259][13:52:25:395155][error ] [A][Stream 0x2][Upstream 256B][FAILURE maximum pool size exceeded]
//
// A pool writes the request, and then the block, whose size is rounded up to 256 bytes. By default only errors are
// written; a build with RMM_LOG_ACTIVE_LEVEL=TRACE writes everything. Sources: RMM's
// mr/device/detail/stream_ordered_memory_resource.hpp, mr/device/pool_memory_resource.hpp and logger.hpp.
#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/read/rmm/rmm_row.h"

namespace hbmscope::rmm {

enum class DebugLine : std::uint8_t {
  event,    // A block was allocated or freed, or an allocation failed.
  request,  // Of the block in the thread's next event.
  message,  // Anything else that RMM writes, such as the first line.
  other,    // Not of this log: other programs' output, or cut off.
};

// Fills `row` from a line without its line end. Times are unparsed, as in rmm_row.h.
DebugLine read_debug_line(std::string_view line, Row& row);

// Is this a line of RMM's debug log that could be its first?
bool is_debug_log(std::string_view line);

}  // namespace hbmscope::rmm
