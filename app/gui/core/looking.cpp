#include "app/gui/core/looking.h"

#include "analysis/query/block_find.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/timeline_columns.h"

namespace hbmscope::gui {
namespace {

constexpr std::size_t history_limit = 200;

// The position of a whole term in the filter: "a device:0 b" contains "device:0".
std::size_t find_term(const std::string& where, const std::string& term) {
  for (std::size_t at = where.find(term); at != std::string::npos; at = where.find(term, at + 1)) {
    const bool begins = at == 0 || where[at - 1] == ' ';
    const bool ends = at + term.size() == where.size() || where[at + term.size()] == ' ';
    if (begins && ends) return at;
  }
  return std::string::npos;
}

}  // namespace

void show_view(AppState& state, ViewKind kind) {
  state.context().position.view = kind;
  state.context().notes.chooses_view = false;
  if (state.context_index() == state.active_context) ++state.window.view_serial;
}

void show_view_of_source(AppState& state, SourceId id, ViewKind kind) {
  for (std::size_t i = 0; i < state.contexts.size(); ++i) {
    const ContextScope scope(state, i);
    if (state.position().source == id) show_view(state, kind);
  }
}

// Selecting another tab is a step that Back undoes. Moving between visible panels is not, because nothing visible
// changes.
void note_view(AppState& state, ViewKind kind) {
  ViewPosition& position = state.context().position;
  if (kind == position.view) return;
  if (is_bottom_tab(row_of(kind)) && is_bottom_tab(row_of(position.view))) remember(state, position);
  position.view = kind;
  // While a file is read, its tabs come and go by themselves.
  if (const Source* source = state.source(); source != nullptr && source->state == AnswerState::ready)
    state.context().notes.chooses_view = false;
}

// Only among the views that exist now.
void step_view(AppState& state) {
  std::size_t next = static_cast<std::size_t>(state.position().view);
  for (std::size_t i = 0; i < view_count; ++i) {
    next = (next + 1) % view_count;
    if (const auto kind = static_cast<ViewKind>(next); view_exists(state, kind)) return show_view(state, kind);
  }
}

bool shows_blocks(const AppState& state) {
  return state.source() != nullptr && state.source()->trace && row_of(state.position().view).needs_addresses;
}

void remember(AppState& state, const ViewPosition& before) {
  if (before.source == SourceId::none) return;
  Context& context = state.context();
  context.back.push_back(before);
  if (context.back.size() > history_limit) context.back.erase(context.back.begin());
  context.forward.clear();
}

void go(AppState& state, std::vector<ViewPosition>& from, std::vector<ViewPosition>& to) {
  Context& context = state.context();
  to.push_back(context.position);
  const ViewKind view = context.position.view;
  context.position = from.back();
  from.pop_back();
  if (context.position.view != view) ++state.window.view_serial;
}

// One click filters by the device; a second click removes the filter.
void toggle_term(AppState& state, const std::string& term) {
  std::string& where = state.context().position.request.where;
  // An address or a size alone would become a word of a filter.
  if (const Source* source = state.source(); source != nullptr && source->trace) where = where_from_find(where);
  const std::size_t at = find_term(where, term);
  if (at == std::string::npos) {
    where += (where.empty() ? "" : " ") + term;
    return;
  }
  where.erase(at, term.size());
  while (!where.empty() && where.back() == ' ') where.pop_back();
  while (!where.empty() && where.front() == ' ') where.erase(0, 1);
  if (const std::size_t twice = where.find("  "); twice != std::string::npos) where.erase(twice, 1);
}

// There is one pinned time. Pinning switches the coloring to the change, and unpinning restores the automatic one.
void pin(AppState& state, const MomentName& moment) {
  ViewPosition& position = state.context().position;
  position.lit.clear();
  if (moment.empty()) return unpin(position);
  position.pin = moment;
  position.coloring = coloring_since_pin();
}

void unpin(ViewPosition& position) {
  position.pin.clear();
  if (row_of(position.coloring).compares_with_pin) position.coloring = HeapColoring::automatic;
}

namespace {

// Where the selected block is in another heap; nothing if that is unknown or uncertain.
std::optional<std::uint64_t> selected_in(const AppState& state, HeapKey heap) {
  const auto& address = state.answers().address;
  const ViewPosition& position = state.position();
  if (address.state != AnswerState::ready || !position.address || !address.value->range.contains(*position.address))
    return std::nullopt;
  for (const SameMemory& same : address.value->elsewhere)
    if (same.stream == heap.stream && same.heap == heap.heap && !same.is_ambiguous()) return same.place.range.begin;
  return std::nullopt;
}

// Related streams share an axis (trace/common_zero.h), so devices compare at one zoom.
bool is_on_axis_of(const AppState& state, std::uint32_t number, const TimelineSpan& span) {
  const Source* source = state.source();
  if (source == nullptr || !source->trace || number >= source->trace->streams.size()) return false;
  const Stream& stream = source->trace->streams[number];
  return stream.has_times() && span.end <= whole_span_of(stream).end;
}

}  // namespace

void show_heap(AppState& state, HeapKey heap) {
  ViewPosition& position = state.context().position;
  if (heap.stream != position.heap.stream && !is_on_axis_of(state, heap.stream, position.span)) position.span = {};
  position.address = selected_in(state, heap);
  position.heap = heap;
  position.addresses = {};
}

bool show_heap_named(AppState& state, const std::string& name) {
  const Source* source = state.source();
  state.context().notes.wanted_heap.clear();
  if (source == nullptr || !source->trace) {
    state.context().notes.wanted_heap = name;
    return false;
  }
  const Result<HeapKey> heap = find_heap(*source->trace, name);
  if (heap)
    show_heap(state, *heap);
  else
    state.window.notice = heap.error().text();
  return heap.has_value();
}

void copy_text(AppState& state, std::string text, std::string notice) {
  state.window.clipboard = std::move(text);
  state.window.notice = std::move(notice);
  ++state.window.clipboard_serial;
}

}  // namespace hbmscope::gui
