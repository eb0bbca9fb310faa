#include "app/gui/core/event_table.h"

#include "analysis/query/block_list_rows.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/heap_spans.h"
#include "app/gui/core/span_text.h"

namespace hbmscope::gui {

Table describe_events(const EventsAnswer& answer) {
  Table table{
      .columns = {{.title = "Event", .unit = Unit::count},
                  {.title = "Time", .unit = Unit::nanoseconds, .rank = 2},
                  {.title = "What"},
                  {.title = "Size", .unit = Unit::bytes, .meaning = "What was requested, if it failed.", .rank = 1},
                  {.title = "Address", .unit = Unit::address, .rank = 3, .is_dim = true},
                  {.title = "Heap", .rank = 4},
                  {.title = "Your code", .width = 270}}};
  const Stream& stream = answer.of();
  const Definitions& definitions = stream.definitions();
  std::vector<std::vector<Value>> cells;
  std::vector<std::string> meanings;
  std::vector<std::uint64_t> positions;
  for (const EventRow& row : answer.rows) {
    const HeapInfo& heap = definitions.heap(row.heap);
    const bool is_request = row.kind == wire::RecordKind::out_of_memory || row.kind == wire::RecordKind::driver_refusal;
    const bool has_address = row.address && heap.has(wire::heap_flag::has_addresses);
    const std::string_view name = definitions.text(row.text);
    std::string what(words_for_event(row)), by;
    if (row.stack != 0) by = user_code_text(definitions, row.stack);
    if (!name.empty()) by += (by.empty() ? "" : "  ") + std::string(name);
    if (row.value) by += " = " + text_from_count(*row.value);
    cells.push_back({row.event, stream.has_times() ? Value(stream.since_start_ns(row.time_ns)) : Value(),
                     what.empty() ? "unknown kind of event" : std::move(what),
                     hbmscope::value_of(is_request ? row.requested : row.size),
                     has_address ? Value(*row.address) : Value(), row.heap != 0 ? Value(name_of_heap(heap)) : Value(),
                     hbmscope::value_of(std::move(by))});
    const bool is_known = row.allocation && *row.allocation != row.event;
    meanings.push_back(is_known ? "allocated at event " + text_from_count(*row.allocation) : "");
    positions.push_back(row.event + 1);
  }
  table.shown = cells.size();
  table.rows = std::move(cells);
  table.row_meaning = [meanings = std::move(meanings)](std::size_t row) { return meanings[row]; };
  table.action = [positions = std::move(positions)](std::size_t row) {
    return Action{.kind = Action::Kind::go_to_event, .number = positions[row]};
  };
  return table;
}

}  // namespace hbmscope::gui
