// The table of a stream's events: one per row, in order.
#pragma once

#include <string_view>

#include "analysis/write/trace_table_lines.h"

namespace hbmscope {

constexpr std::string_view event_columns =
    "stream,event,time_ns,since_start_ns,kind,heap,address,size_bytes,requested_bytes,available_bytes,allocation_event,"
    "device_stream,value,text,own_function,own_file,own_line,key,handle,offset_bytes,lost_since_ns,device";

// The first `end` events. Returns false if it was cancelled.
bool write_event_lines(const Stream& stream, std::uint64_t end, TraceTableLines& lines, PassControl& control);

}  // namespace hbmscope
