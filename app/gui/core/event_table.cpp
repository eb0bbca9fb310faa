#include "app/gui/core/event_table.h"

#include "analysis/query/block_list_rows.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/heap_spans.h"
#include "app/gui/core/span_text.h"

namespace hbmscope::gui {

EventText text_from_event(const EventsAnswer& answer, const EventRow& row) {
  const Stream& stream = answer.of();
  const Definitions& definitions = stream.definitions();
  const HeapInfo& heap = definitions.heap(row.heap);
  EventText text;
  if (stream.has_times()) text.time = text_from_moment_ns(row.time_ns - stream.first_time_ns());
  text.what = words_for_event(row);
  if (text.what.empty()) text.what = "unknown kind of event";
  text.is_failure = row.kind == wire::RecordKind::out_of_memory;
  const bool is_request = text.is_failure || row.kind == wire::RecordKind::driver_refusal;
  const auto bytes = is_request ? row.requested : row.size;
  if (bytes) text.size = text_from_bytes(static_cast<std::int64_t>(*bytes));
  if (bytes) text.tooltip = exact_text_from_bytes(static_cast<std::int64_t>(*bytes)) + (is_request ? " requested" : "");
  if (row.address && heap.has(wire::heap_flag::has_addresses)) text.address = address_text(*row.address);
  if (row.heap != 0) text.heap = name_of_heap(heap);
  const std::string_view name = definitions.text(row.text);
  if (row.stack != 0) text.by = user_code_text(definitions, row.stack);
  if (!name.empty()) text.by += (text.by.empty() ? "" : "  ") + std::string(name);
  if (row.value) text.by += " = " + text_from_count(*row.value);
  if (row.allocation && *row.allocation != row.event)
    text.tooltip += (text.tooltip.empty() ? "" : "\n") + std::string("allocated at event ") +
                    text_from_count(static_cast<std::int64_t>(*row.allocation));
  return text;
}

TextTable table_from_events(const EventsAnswer& answer) {
  TextTable table;
  table.columns = {{"Event", true}, {"Time"}, {"What"}, {"Bytes", true}, {"Address"}, {"Heap"}, {"Your code"}};
  for (const EventRow& row : answer.rows) {
    const EventText text = text_from_event(answer, row);
    const auto bytes = text.is_failure || !row.size ? row.requested : row.size;
    const std::int64_t since = row.time_ns - answer.of().first_time_ns();
    table.rows.push_back({{text_from_count(static_cast<std::int64_t>(row.event)), std::to_string(row.event)},
                          {text.time, text.time.empty() ? std::string() : std::to_string(since)},
                          {text.what, {}},
                          {text.size, bytes ? std::to_string(*bytes) : std::string()},
                          {text.address, {}},
                          {text.heap, {}},
                          {text.by, {}}});
  }
  return table;
}

}  // namespace hbmscope::gui
