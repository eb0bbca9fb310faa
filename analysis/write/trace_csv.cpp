#include "analysis/write/trace_csv.h"

#include <fmt/format.h>

#include "analysis/write/trace_csv_blocks.h"
#include "analysis/write/trace_csv_events.h"

namespace hbmscope {
Result<TraceTable> parse_trace_table(std::string_view name) {
  if (name == "events") return TraceTable::events;
  if (name == "blocks") return TraceTable::blocks;
  return Failure(
      Error{fmt::format("'{}' is no table of a trace", name), "Known: --what events, --what blocks.", {}, {}, false});
}

ExportEnd write_trace_csv(const Trace& trace, const std::vector<StreamState>& states, TraceTable table,
                          const TextSink& sink, PassControl* control) {
  TextPieces out(sink);
  out.text() = table == TraceTable::events ? event_columns : block_columns;
  out.text() += "\r\n";
  PassControl own_control;
  PassControl& pass = control == nullptr ? own_control : *control;
  for (const Stream& stream : trace.streams) pass.total_events += stream.end_position();
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Stream& stream = trace.streams[i];
    TraceCsvLines lines(stream, i, out, pass);
    const bool is_whole = table == TraceTable::events ? write_event_lines(stream, states[i].position(), lines, pass)
                                                      : write_block_lines(stream, states[i], lines, pass);
    if (!out.is_open()) return ExportEnd::refused;
    if (!is_whole) return ExportEnd::cancelled;
  }
  return out.flush() ? ExportEnd::whole : ExportEnd::refused;
}

}  // namespace hbmscope
