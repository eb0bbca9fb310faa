// Commands that change view, filter, selection or baseline.
#include <utility>

#include "app/gui/core/apply_commands.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/kept_file.h"
#include "app/gui/core/looking.h"
#include "app/gui/core/recent_files.h"
#include "app/gui/core/side_by_side.h"

namespace hbmscope::gui {
namespace {

void apply_escape(AppState& state) {
  ViewPosition& position = state.context().position;
  WindowState& window = state.window;
  if (window.palette_open || window.help_open || window.settings_open) {
    window.palette_open = window.help_open = window.settings_open = false;
  } else if (!window.tiles.empty()) {
    window.tiles.clear();
  } else if (state.jobs.is_asking) {
    state.jobs.is_asking = false;
  } else if (state.jobs.is_open) {
    state.jobs.is_open = false;
  } else if (!position.range.empty()) {
    position.range = {};
    if (position.view == ViewKind::range) show_view(state, ViewKind::timeline);
  } else if (!position.find.empty()) {
    position.find.clear();
  } else if (!position.lit.empty()) {
    position.lit.clear();
  } else if (!position.selection.empty() || position.address) {
    position.selection = {};
    position.address.reset();
  } else if (!position.zoom.empty()) {
    position.zoom.clear();
  } else if (position.request != without_filters(position.request)) {
    position.request = without_filters(position.request);
  }
}

void select_only(ViewPosition& position, const FrameKey& frame) {
  position.selection = frame;
  position.log_line.reset();
  position.address.reset();
  position.cell.reset();
}

void group_by(AppParts& parts, FrameBy by) {
  parts.state.context().position.request.by = by;
}

}  // namespace

namespace apply {

// One line each, as in a table.
// clang-format off
#define X(name)                             \
  void show_##name(AppParts& parts) {       \
    show_view(parts.state, ViewKind::name); \
  }
HBMSCOPE_VIEWS(X)
#undef X

void set_view(AppParts& parts, const ViewKind& kind) { show_view(parts.state, kind); }
void set_view_named(AppParts& parts, const std::string& name) {
  if (const auto kind = parse_view_kind(name))
    show_view(parts.state, *kind);
  else
    parts.state.window.notice = "There is no view \"" + name + "\". Known views: " + view_keys() + ".";
}
void show_remedies(AppParts& parts) {
  show_view(parts.state, ViewKind::failure);
  ++parts.state.window.remedies_serial;
}
void note_view(AppParts& parts, const ViewKind& kind) { gui::note_view(parts.state, kind); }
void next_view(AppParts& parts) { step_view(parts.state); }
void back(AppParts& parts) { go(parts.state, parts.state.context().back, parts.state.context().forward); }
void forward(AppParts& parts) { go(parts.state, parts.state.context().forward, parts.state.context().back); }
void set_top_by(AppParts& parts, const TopBy& by) { parts.state.context().position.top_by = by; }
void set_filter(AppParts& parts, const std::string& filter) {
  parts.state.context().position.request.where = filter;
  if (filter.empty() || (!parts.state.filters.empty() && parts.state.filters.front() == filter)) return;
  gui::add_filter(parts.state.filters, filter);
  parts.filters.note_change();
}
void add_filter(AppParts& parts, const std::string& term) { toggle_term(parts.state, term); }
void filter_to_selection(AppParts& parts) {
  toggle_term(parts.state, "stack:" + where_quote(parts.state.position().selection.function));
}
void set_focus(AppParts& parts, const std::string& expression) {
  parts.state.context().position.request.focus = expression;
}
void clear_filter(AppParts& parts) {
  ViewRequest& request = parts.state.context().position.request;
  request = without_filters(request);
}
void by_function(AppParts& parts) { group_by(parts, FrameBy::function); }
void by_line(AppParts& parts) { group_by(parts, FrameBy::line); }
void by_file(AppParts& parts) { group_by(parts, FrameBy::file); }
void by_package(AppParts& parts) { group_by(parts, FrameBy::package); }
void set_by(AppParts& parts, const FrameBy& by) { group_by(parts, by); }
void toggle_dropped(AppParts& parts) {
  bool& keeps = parts.state.context().position.request.keep_dropped_frames;
  keeps = !keeps;
}
void set_table(AppParts& parts, const std::string& name) { parts.state.context().position.table = name; }
void set_what_if(AppParts& parts, const std::string& words) { parts.state.context().position.what_if = words; }
void set_find(AppParts& parts, const std::string& text) { parts.state.context().position.find = text; }
void select_frame(AppParts& parts, const FrameKey& frame) { select_only(parts.state.context().position, frame); }
void select_function(AppParts& parts, const std::string& name) {
  select_only(parts.state.context().position, {name, {}, 0});
}
void clear_selection(AppParts& parts) { select_only(parts.state.context().position, {}); }
void show_log_line(AppParts& parts, const std::uint64_t& line) {
  parts.state.context().position.log_line = line;
  show_view(parts.state, ViewKind::source);
}
void show_source_file(AppParts& parts, const SourceId& source) {
  if (parts.state.position().source != source) parts.sides.enter_source(parts.state.context_index(), source);
}
void compare_with(AppParts& parts, const SourceId& source) {
  parts.state.context().position.baseline = source;
  show_view(parts.state, ViewKind::diff);
}
void set_baseline_here(AppParts& parts) {
  parts.state.context().position.baseline = parts.state.position().source;
  parts.state.window.notice = "This file is the baseline now. Choose the file to compare in Sources, or open one.";
}
void swap_baseline(AppParts& parts) {
  ViewPosition& position = parts.state.context().position;
  std::swap(position.source, position.baseline);
}
void toggle_match_line(AppParts& parts) {
  StackMatch& match = parts.state.context().position.match;
  match = match == StackMatch::line ? StackMatch::function : StackMatch::line;
}
void stop_comparing(AppParts& parts) { parts.state.context().position.baseline = SourceId::none; }
void escape(AppParts& parts) { apply_escape(parts.state); }
// clang-format on

}  // namespace apply
}  // namespace hbmscope::gui
