// The table of a stream's blocks and handles: one per row, with its allocation and its free.
#pragma once

#include <string_view>

#include "analysis/write/trace_table_lines.h"

namespace hbmscope {

constexpr std::string_view block_columns =
    "stream,allocation_event,heap,address,size_bytes,requested_bytes,device_stream,allocated_time_ns,"
    "allocated_since_start_ns,freed_event,freed_time_ns,freed_since_start_ns,state,tag,own_function,own_file,own_line,"
    "kind,handle";

// In the order of their ends, followed by those that are live in `end`. Returns false if it was cancelled.
bool write_block_lines(const Stream& stream, const StreamState& end, TraceTableLines& lines, PassControl& control);

}  // namespace hbmscope
