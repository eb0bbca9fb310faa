// A trace as rows for other programs, times in ns, up to a moment:
//
//   events   one a row, in the order of their stream: what it was, where, how large
//   blocks   one a row, and each handle of physical memory, with when it came and went, in the order in which they
//            went; those that live on at the end come last
//
// CSV: RFC 4180, a head line, columns with their units in their names, empty where the source can't know. JSON: a
// document with a list named as the table, an object a row and line, whose keys are the columns; what the source can't
// know is left out. Addresses are hexadecimal, and left out where the source makes them up.
//
// A block or event is about 100 bytes of CSV; nothing is kept of it (a block: 24 bytes while it lives).
#pragma once

#include "analysis/model/result.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"
#include "analysis/write/text_sink.h"

namespace hbmscope {

enum class TraceTable { events, blocks };
Result<TraceTable> parse_trace_table(std::string_view name);

ExportEnd write_trace_csv(const Trace& trace, const std::vector<StreamState>& states, TraceTable table,
                          const TextSink& sink, PassControl* control = nullptr);
ExportEnd write_trace_json(const Trace& trace, const std::vector<StreamState>& states, TraceTable table,
                           const TextSink& sink, PassControl* control = nullptr);

}  // namespace hbmscope
