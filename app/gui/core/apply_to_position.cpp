// Commands that change view, filter, selection or baseline.
#include <utility>

#include "app/gui/core/apply_commands.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/looking.h"

namespace hbmscope::gui {
namespace {

void apply_escape(AppState& state) {
  ViewPosition& position = state.context().position;
  WindowState& window = state.window;
  if (window.palette_open || window.help_open) {
    window.palette_open = window.help_open = false;
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

}  // namespace

bool apply_to_position(AppState& state, SideBySide& sides, const Command& command) {
  ViewPosition& position = state.context().position;
  ViewRequest& request = position.request;
  if (const auto view = view_of(command.id)) {
    show_view(state, *view);
    return true;
  }
  using enum CommandId;
  switch (command.id) {
    case set_view: show_view(state, command.as<ViewKind>()); return true;
    case set_view_named:
      if (const auto kind = parse_view_kind(command.as<std::string>())) {
        show_view(state, *kind);
      } else {
        state.window.notice =
            "There is no view \"" + command.as<std::string>() + "\". Known views: " + view_keys() + ".";
      }
      return true;
    case next_view: step_view(state); return true;
    case set_top_by: position.top_by = command.as<TopBy>(); return true;
    case set_filter: request.where = command.as<std::string>(); return true;
    case add_filter: toggle_term(state, command.as<std::string>()); return true;
    case filter_to_selection: toggle_term(state, "stack:" + where_quote(position.selection.function)); return true;
    case set_focus: request.focus = command.as<std::string>(); return true;
    case clear_filter: request = without_filters(request); return true;
    case by_function: request.by = FrameBy::function; return true;
    case by_line: request.by = FrameBy::line; return true;
    case by_file: request.by = FrameBy::file; return true;
    case by_package: request.by = FrameBy::package; return true;
    case set_by: request.by = command.as<FrameBy>(); return true;
    case toggle_dropped: request.keep_dropped_frames = !request.keep_dropped_frames; return true;
    case set_what_if: position.what_if = command.as<std::string>(); return true;
    case set_find: position.find = command.as<std::string>(); return true;
    case select_frame:
    case select_function:
      position.selection =
          command.id == select_frame ? command.as<FrameKey>() : FrameKey{command.as<std::string>(), {}, 0};
      position.log_line.reset();
      position.address.reset();
      position.cell.reset();
      return true;
    case show_log_line:
      position.log_line = command.as<std::uint64_t>();
      show_view(state, ViewKind::source);
      return true;
    case clear_selection:
      position.selection = {};
      position.log_line.reset();
      position.address.reset();
      position.cell.reset();
      return true;
    case show_source_file:
      if (position.source != command.as<SourceId>()) sides.enter_source(state.context_index(), command.as<SourceId>());
      return true;
    case compare_with:
      position.baseline = command.as<SourceId>();
      show_view(state, ViewKind::diff);
      return true;
    case set_baseline_here:
      position.baseline = position.source;
      state.window.notice = "This file is the baseline now. Choose the file to compare in Sources, or open one.";
      return true;
    case swap_baseline: std::swap(position.source, position.baseline); return true;
    case toggle_match_line:
      position.match = position.match == StackMatch::line ? StackMatch::function : StackMatch::line;
      return true;
    case stop_comparing: position.baseline = SourceId::none; return true;
    case escape: apply_escape(state); return true;
    default: return false;
  }
}

}  // namespace hbmscope::gui
