#include "app/gui/core/copy_as_command.h"

#include <algorithm>
#include <array>
#include <string>

#include "analysis/query/block_find.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"
#include "app/gui/core/place_text.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {
namespace {

// The selected heap, if it is not the default one; otherwise empty.
std::string heap_name(const Source* source, HeapKey selected) {
  if (source == nullptr || !source->trace) return {};
  const HeapKey shown = choose_heap(*source->trace, selected);
  if (shown == choose_heap(*source->trace, {})) return {};
  for (const NamedHeap& heap : heaps_of(*source->trace))
    if (heap.key == shown) return heap.name;
  return {};
}

void add_changes(CommandLine& line, std::string_view option, const Source& source) {
  for (const WorkloadChange& change : source.what_if) line.add_option(option, text_from_workload_change(change));
}

void add_files(CommandLine& line, const Source& source) {
  for (const std::string& file : source.files()) line.add(file);
}

// What tables and graphs are about, as a filter: a device, or one of the memories of a device. Empty means everything.
std::string where_of_scope(const AppState& state) {
  const std::vector<HeapKey> scope = heaps_in_scope(state);
  if (scope.empty()) return {};
  const Trace& trace = *state.source()->trace;
  const auto info_of_heap = [&](HeapKey key) { return trace.streams[key.stream].definitions().heap(key.heap); };
  const std::uint32_t device = info_of_heap(scope.front()).device;
  std::size_t of_device = 0;
  for (const NamedHeap& heap : heaps_of(trace))
    if (info_of_heap(heap.key).device == device) ++of_device;
  if (device != wire::no_device && of_device <= scope.size()) return "device:" + std::to_string(device);
  return "heap=" + where_quote(info_of_heap(choose_heap(trace, state.position().heap)).name);
}

// What is shown of the source; time and colours are those of the left side.
void add_position(CommandLine& line, const Source* source, const ViewPosition& position, const ViewPosition& left) {
  line.add_option("--view", row_of(position.view).key);
  if (!position.heap.empty() && !position.address) line.add_option("--heap", heap_name(source, position.heap));
  line.add_option("--from", left.range.from.text());
  line.add_option("--at", (left.range.empty() ? left.at : left.range.to).text());
  line.add_option("--pin", left.pin.text());
  line.add_flag("--all-devices", position.all_devices);
  if (position.map_layout != MapLayout::automatic) line.add_option("--rows", text_from_map_layout(position.map_layout));
  if (!position.addresses.empty()) line.add_option("--addresses", text_from_addresses(position.addresses));
  const HeapColoring plain = left.pin.empty() ? HeapColoring::automatic : coloring_since_pin();
  if (left.coloring != plain) line.add_option("--color", row_of(left.coloring).key);
  line.add_option("--where", position.request.where);
  if (position.address) {
    std::string selected =
        (position.heap.empty() ? "" : text_from_heap_key(position.heap) + "/") + address_text(*position.address);
    for (const std::uint64_t address : position.also) selected += "," + address_text(address);
    line.add_option("--select", selected);
  } else {
    line.add_option("--select", position.selection.function);
  }
}

void add_state(CommandLine& line, const AppState& state) {
  add_position(line, state.source(), state.position(), state.contexts[0].position);
  line.add_option("--theme", state.settings.theme == Theme::light ? "light" : "");
}

// The source on the right side.
SourceId other_side_id(const AppState& state) {
  return state.is_split() ? state.contexts[1].position.source : SourceId::none;
}

}  // namespace

std::string open_command(const AppState& state) {
  const ViewPosition &position = state.position(), &left = state.contexts[0].position;
  CommandLine line("hbmscope open");
  // The active file comes last, since the last opened file becomes active.
  for (const Source& source : state.sources)
    if (source.id != left.source && source.id != position.baseline && source.id != other_side_id(state))
      add_files(line, source);
  if (const Source* source = state.find_source(left.source)) {
    add_files(line, *source);
    add_changes(line, "--what-if", *source);
  }
  if (state.is_split()) {
    const Source* other_side = state.find_source(other_side_id(state));
    if (other_side != nullptr) {
      line.add_option("--compare-with", other_side->path);
      add_changes(line, "--compare-what-if", *other_side);
    }
    const ViewPosition& right = state.contexts[1].position;
    line.add_option("--compare-at", right.at.text());
    line.add_option("--compare-pin", right.pin.text());
    line.add_option("--compare-heap", heap_name(other_side, right.heap));
    if (state.lock) line.add_option("--lock", text_from_same_moment(*state.lock));
  }
  if (const Source* baseline = state.baseline()) line.add_option("--baseline", baseline->path);
  add_state(line, state);
  return line.take();
}

std::vector<std::pair<std::string, std::string>> open_options(const AppState& state) {
  CommandLine line("");
  add_state(line, state);
  return line.options();
}

std::string open_command(const Source& source, const ViewPosition& position) {
  CommandLine line("hbmscope open");
  add_files(line, source);
  add_changes(line, "--what-if", source);
  add_position(line, &source, position, position);
  return line.take();
}

std::string workload_command(const Source& source) {
  CommandLine line("hbmscope tpu run");
  line.add(source.path);
  add_changes(line, "--what-if", source);
  return line.take();
}

std::string report_command(const AppState& state) {
  const ViewPosition& position = state.position();
  const Source* source = state.source();
  if (source == nullptr) return "hbmscope --help";
  // No other command can describe a modified workload.
  if (source->workload && (position.view == ViewKind::tpu || !source->what_if.empty()))
    return workload_command(*source);
  const ViewRow& row = row_of(position.view);
  if (view_exists(state, position.view) && row.report_command != nullptr)
    if (std::string line = row.report_command(state); !line.empty()) return line;
  CommandLine line("hbmscope report");
  add_files(line, *source);
  if (source->trace) line.add_option("--at", position.at.text());
  if (view_exists(state, position.view) && row.add_report_options != nullptr) row.add_report_options(state, line);
  ViewRequest request = position.request;
  if (source->trace) request.where = where_of_both(where_of_scope(state), request.where);
  if (position.request.by != FrameBy::function) line.add_option("--by", text_from_frame_by(position.request.by));
  line.add_filters(request);
  return line.take();
}

}  // namespace hbmscope::gui
