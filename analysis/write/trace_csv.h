// A trace as rows for other programs: RFC 4180, a head line, columns with their units in their names, times in ns,
// empty where the source can't know. Addresses are hexadecimal, and empty where the source makes them up.
//
//   events   one a row, in the order of their stream: what it was, where, how large
//   blocks   one a row, and each handle of physical memory, with when it came and went, in the order in which they
//            went; those that live on at the end come last
//
// Up to a moment. A block or event is about 100 bytes of text; nothing is kept of it (a block: 24 bytes while it
// lives).
#pragma once

#include "analysis/model/result.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/pass.h"
#include "analysis/write/text_sink.h"

namespace hbmscope {

enum class TraceTable { events, blocks };
Result<TraceTable> parse_trace_table(std::string_view name);

ExportEnd write_trace_csv(const Trace& trace, const std::vector<StreamState>& states, TraceTable table,
                          const TextSink& sink, PassControl* control = nullptr);

}  // namespace hbmscope
