// A trace as rows for other programs, up to a given time. Times are in ns.
//
//   events   one per row, in stream order: what happened, where, how large
//   blocks   one per row, and each handle of physical memory, with its allocation and its end, in the order of the
//            ends; those that are still live come last
//
// CSV: RFC 4180 with a header line, units in column names; unknown values are empty. JSON: a document with a list named
// after the table, one object per row and line, whose keys are the columns; unknown values are omitted. Addresses are
// hexadecimal, and omitted if the source invents them.
//
// A block or event takes about 100 bytes of CSV. Memory use does not grow with the rows (24 bytes per live block).
#pragma once

#include "analysis/model/result.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"
#include "analysis/units/csv_text.h"
#include "analysis/write/text_sink.h"

namespace hbmscope {

enum class TraceTable { events, blocks };
Result<TraceTable> parse_trace_table(std::string_view name);

ExportEnd write_trace_csv(const Trace& trace, const std::vector<StreamState>& states, TraceTable table,
                          const TextSink& sink, PassControl* control = nullptr,
                          CsvReader reader = CsvReader::spreadsheet);
ExportEnd write_trace_json(const Trace& trace, const std::vector<StreamState>& states, TraceTable table,
                           const TextSink& sink, PassControl* control = nullptr);

}  // namespace hbmscope
