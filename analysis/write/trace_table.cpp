#include "analysis/write/trace_table.h"

#include <fmt/format.h>

#include "analysis/write/json.h"
#include "analysis/write/trace_table_blocks.h"
#include "analysis/write/trace_table_events.h"

namespace hbmscope {
Result<TraceTable> parse_trace_table(std::string_view name) {
  if (name == "events") return TraceTable::events;
  if (name == "blocks") return TraceTable::blocks;
  return Failure(refusal(fmt::format("unknown table '{}'", name), "Known: --what events, --what blocks."));
}

namespace {

bool write_rows(const Trace& trace, const std::vector<StreamState>& states, TraceTable table, TraceTableFormat& format,
                TextPieces& out, PassControl& pass) {
  for (const Stream& stream : trace.streams) pass.total_events += stream.end_position();
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Stream& stream = trace.streams[i];
    TraceTableLines lines(stream, i, format, out, pass);
    const bool is_whole = table == TraceTable::events ? write_event_lines(stream, states[i].position(), lines, pass)
                                                      : write_block_lines(stream, states[i], lines, pass);
    if (!is_whole) return false;
  }
  return true;
}

ExportEnd end_of(bool is_whole, TextPieces& out) {
  if (!out.is_open()) return ExportEnd::refused;
  if (!is_whole) return ExportEnd::cancelled;
  return out.flush() ? ExportEnd::whole : ExportEnd::refused;
}

std::string_view columns_of(TraceTable table) {
  return table == TraceTable::events ? event_columns : block_columns;
}

}  // namespace

ExportEnd write_trace_csv(const Trace& trace, const std::vector<StreamState>& states, TraceTable table,
                          const TextSink& sink, PassControl* control, CsvReader reader) {
  TextPieces out(sink);
  out.text() = columns_of(table);
  out.text() += "\r\n";
  CsvTable format(reader);
  PassControl own_control;
  return end_of(write_rows(trace, states, table, format, out, control == nullptr ? own_control : *control), out);
}

ExportEnd write_trace_json(const Trace& trace, const std::vector<StreamState>& states, TraceTable table,
                           const TextSink& sink, PassControl* control) {
  TextPieces out(sink);
  out.text() = fmt::format("{{\"schema\":{},\"{}\":[", json_schema, table == TraceTable::events ? "events" : "blocks");
  JsonTable format(columns_of(table));
  PassControl own_control;
  const bool is_whole = write_rows(trace, states, table, format, out, control == nullptr ? own_control : *control);
  out.text() += "\n]}\n";
  return end_of(is_whole, out);
}

}  // namespace hbmscope
