#include <algorithm>
#include <cmath>

#include "app/gui/core/app_impl.h"
#include "app/gui/core/copy_as_command.h"

namespace hbmscope::gui {
namespace {

constexpr std::size_t history_limit = 200;

const TreeNode* node_at(const FlameAnswer& flame, const std::vector<FrameKey>& path) {
  const auto& nodes = flame.tree.nodes;
  if (nodes.empty()) return nullptr;
  const TreeNode* node = &nodes.front();
  for (const FrameKey& key : path) {
    std::uint32_t child = node->first_child;
    while (child != no_node &&
           !matches(key, flame.view->frames[static_cast<std::size_t>(nodes[child].frame)], flame.view->request.by))
      child = nodes[child].next_sibling;
    if (child == no_node) return nullptr;
    node = &nodes[child];
  }
  return node;
}

// The widest node of the selected frame: what Zoom to the selection goes to.
std::vector<FrameKey> path_to_widest(const FlameAnswer& flame, FrameIndex frame) {
  const auto& nodes = flame.tree.nodes;
  std::uint32_t widest = no_node;
  for (std::uint32_t i = 1; i < nodes.size(); ++i)
    if (nodes[i].frame == frame && (widest == no_node || nodes[i].cum.bytes > nodes[widest].cum.bytes)) widest = i;
  std::vector<FrameKey> path;
  if (widest == no_node) return path;
  for (const FrameIndex step : flame.tree.path(widest))
    path.push_back(key_from_frame(flame.view->frames[static_cast<std::size_t>(step)]));
  return path;
}

// A stable text twin of a term in a line: "a device:0 b" holds "device:0" between blanks.
std::size_t find_term(const std::string& where, const std::string& term) {
  for (std::size_t at = where.find(term); at != std::string::npos; at = where.find(term, at + 1)) {
    const bool begins = at == 0 || where[at - 1] == ' ';
    const bool ends = at + term.size() == where.size() || where[at + term.size()] == ' ';
    if (begins && ends) return at;
  }
  return std::string::npos;
}

TreeDirection turned(TreeDirection direction) {
  return direction == TreeDirection::callees ? TreeDirection::callers : TreeDirection::callees;
}

}  // namespace

void App::Impl::apply(const Command& command) {
  // A side whose view was used is the active one from now on; sizes are told by views themselves.
  const bool is_of_side = command.context != Command::active;
  if (is_of_side && command.context >= state.contexts.size()) return;  // It was closed meanwhile.
  const bool is_size = command.id == CommandId::size_timeline || command.id == CommandId::size_address_time;
  const ContextScope scope(state, is_of_side ? command.context : state.active_context);
  if (is_of_side && !is_size) state.active_context = command.context;
  if (const std::string_view reason = why_not(state, command.id); !reason.empty()) {
    state.window.notice = reason;
    return;
  }
  if (command.id == CommandId::draw_again) return;
  if (command.id == CommandId::note_view) return note_view(command.as<ViewKind>());
  if (!is_size) state.window.notice.clear();
  const ViewPosition before = state.context().position;
  if (apply_to_blocks(command)) {
    if (state.context().position != before) remember(before);
    return;
  }
  if (apply_to_window(command) || apply_to_files(command) || apply_to_sides(command) || apply_to_demo(command) ||
      apply_to_jobs(command) || apply_to_workload(command))
    return;
  // What is left changes the position, and Alt+Left brings back what it was.
  Context& context = state.context();
  if (command.id == CommandId::back) return go(context.back, context.forward);
  if (command.id == CommandId::forward) return go(context.forward, context.back);
  if (!apply_to_trace(command) && !apply_to_position(command)) apply_to_flame(command);
  // All of a drag is one step.
  const bool is_step = command.id != CommandId::move_moment && command.id != CommandId::move_range &&
                       command.id != CommandId::show_span && command.id != CommandId::show_addresses &&
                       command.id != CommandId::size_timeline && command.id != CommandId::size_address_time;
  if (context.position != before && is_step) remember(before);
}

void App::Impl::remember(const ViewPosition& before) {
  if (before.source == SourceId::none) return;
  Context& context = state.context();
  context.back.push_back(before);
  if (context.back.size() > history_limit) context.back.erase(context.back.begin());
  context.forward.clear();
}

// Choosing another tab is a step that Alt+Left undoes; going from one panel into the one beside it changes nothing that
// anybody sees.
void App::Impl::note_view(ViewKind kind) {
  ViewPosition& position = state.context().position;
  if (kind == position.view) return;
  if (is_bottom_tab(kind) && is_bottom_tab(position.view)) remember(position);
  position.view = kind;
}

void App::Impl::go(std::vector<ViewPosition>& from, std::vector<ViewPosition>& to) {
  Context& context = state.context();
  to.push_back(context.position);
  const ViewKind view = context.position.view;
  context.position = from.back();
  from.pop_back();
  if (context.position.view != view) ++state.window.view_serial;
}

void App::Impl::show_view(ViewKind kind) {
  state.context().position.view = kind;
  if (state.context_index() == state.active_context) ++state.window.view_serial;
}

// F6: only through views that exist now.
void App::Impl::step_view() {
  std::size_t next = static_cast<std::size_t>(state.position().view);
  for (std::size_t i = 0; i < view_names.size(); ++i) {
    next = (next + 1) % view_names.size();
    if (view_exists(state, view_names[next].kind)) return show_view(view_names[next].kind);
  }
}

// Clicking a device once filters to it, once more shows all again.
void App::Impl::toggle_term(const std::string& term) {
  std::string& where = state.context().position.request.where;
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

void App::Impl::apply_escape() {
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
    if (position.view == ViewKind::range) show_view(ViewKind::timeline);
  } else if (!position.find.empty()) {
    position.find.clear();
  } else if (!position.blocks.where.empty()) {
    position.blocks.where.clear();
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

bool App::Impl::apply_to_position(const Command& command) {
  ViewPosition& position = state.context().position;
  ViewRequest& request = position.request;
  using enum CommandId;
  switch (command.id) {
    case show_summary: show_view(ViewKind::summary); return true;
    case show_flame: show_view(ViewKind::flame); return true;
    case show_top: show_view(ViewKind::top); return true;
    case show_tree: show_view(ViewKind::call_tree); return true;
    case show_diff: show_view(ViewKind::diff); return true;
    case show_source: show_view(ViewKind::source); return true;
    case show_totals: show_view(ViewKind::totals); return true;
    case show_import: show_view(ViewKind::import); return true;
    case set_view: show_view(command.as<ViewKind>()); return true;
    case set_view_named:
      if (const auto kind = parse_view_kind(command.as<std::string>())) {
        show_view(*kind);
      } else {
        std::string names;
        for (const ViewName& name : view_names) names += (names.empty() ? "" : ", ") + std::string(name.key);
        state.window.notice = "There is no view \"" + command.as<std::string>() + "\": " + names + ".";
      }
      return true;
    case next_view: step_view(); return true;
    case set_filter: request.where = command.as<std::string>(); return true;
    case add_filter: toggle_term(command.as<std::string>()); return true;
    case filter_to_selection: toggle_term("stack:" + where_quote(position.selection.function)); return true;
    case set_focus: request.focus = command.as<std::string>(); return true;
    case clear_filter: request = without_filters(request); return true;
    case by_function: request.by = FrameBy::function; return true;
    case by_line: request.by = FrameBy::line; return true;
    case by_file: request.by = FrameBy::file; return true;
    case by_package: request.by = FrameBy::package; return true;
    case set_by: request.by = command.as<FrameBy>(); return true;
    case toggle_dropped: request.keep_dropped_frames = !request.keep_dropped_frames; return true;
    case set_find: position.find = command.as<std::string>(); return true;
    case select_frame:
    case select_function:
      position.selection =
          command.id == select_frame ? command.as<FrameKey>() : FrameKey{command.as<std::string>(), {}, 0};
      position.address.reset();
      position.cell.reset();
      return true;
    case clear_selection:
      position.selection = {};
      position.address.reset();
      position.cell.reset();
      return true;
    case show_source_file:
      if (position.source != command.as<SourceId>()) enter_source(state.context_index(), command.as<SourceId>());
      return true;
    case compare_with:
      position.baseline = command.as<SourceId>();
      show_view(ViewKind::diff);
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
    case escape: apply_escape(); return true;
    default: return false;
  }
}

bool App::Impl::apply_to_flame(const Command& command) {
  ViewPosition& position = state.context().position;
  const auto& flame = state.answers().flame.value;
  ++state.window.zoom_serial;  // Also zooming out from what was only zoomed with the wheel.
  using enum CommandId;
  switch (command.id) {
    case toggle_value:
      position.value = position.value == FlameValue::bytes ? FlameValue::count : FlameValue::bytes;
      return true;
    case toggle_fold: position.fold_library = !position.fold_library; return true;
    case toggle_flame_direction:
      position.flame_direction = turned(position.flame_direction);
      position.zoom.clear();
      return true;
    case toggle_tree_direction: position.tree_direction = turned(position.tree_direction); return true;
    case zoom_flame: position.zoom = command.as<std::vector<FrameKey>>(); return true;
    case zoom_out: position.zoom.clear(); return true;
    case zoom_to_selection:
      if (flame && node_at(*flame, position.zoom) != nullptr) {
        const auto path = path_to_widest(*flame, state.selected_frame(flame->view));
        if (!path.empty()) position.zoom = path;
      }
      return true;
    default: return false;
  }
}

bool App::Impl::apply_to_window(const Command& command) {
  WindowState& window = state.window;
  const auto ask_export = [&](std::string_view format) {
    window.dialog = WindowState::Dialog::export_file;
    window.export_format = format;
    return true;
  };
  using enum CommandId;
  switch (command.id) {
    case open_file: window.dialog = WindowState::Dialog::open_file; return true;
    case open_folder: window.dialog = WindowState::Dialog::open_folder; return true;
    case compare_with_file: window.dialog = WindowState::Dialog::open_baseline; return true;
    case close_dialog: window.dialog = WindowState::Dialog::none; return true;
    case list_folder: start_listing(command.as<std::string>()); return true;
    case export_picture: return ask_export("png");
    case export_figures: return ask_export("figures.csv");
    case export_blocks: return ask_export("blocks.csv");
    case export_events: return ask_export("events.csv");
    case export_svg: return ask_export("svg");
    case export_html: return ask_export("html");
    case export_csv: return ask_export("csv");
    case export_folded: return ask_export("folded");
    case export_pprof: return ask_export("pprof");
    case write_export: start_export(command.as<std::string>()); return true;
    case write_figures: write_text(std::exchange(window.figures_file, {}), command.as<std::string>()); return true;
    case say: window.notice = command.as<std::string>(); return true;
    case quit: window.quit = true; return true;
    case copy:
    case copy_as_text:
      window.copy_as_text = command.id == copy_as_text;
      window.figures_file.clear();
      ++window.copy_serial;
      return true;
    case set_clipboard: copy_text(command.as<std::string>(), "Copied."); return true;
    case copy_as_command: copy_text(open_command(state), "Copied: " + open_command(state)); return true;
    case copy_report_command: copy_text(report_command(state), "Copied: " + report_command(state)); return true;
    case find: ++window.find_serial; return true;
    case edit_filter: ++window.filter_serial; return true;
    case find_next:
    case find_previous:
      window.find_step = command.id == find_next ? 1 : -1;
      ++window.find_step_serial;
      return true;
    case stop_work:
      for (Side& side : sides_)
        for (auto& [kind, slot] : side.slots)
          if (slot.work) slot.work->cancelled = true;
      return true;
    case go_on_working:
      for (Side& side : sides_)
        for (auto& [kind, slot] : side.slots)
          if (slot.work && slot.work->cancelled) slot = {};
      return true;
    case maximise: window.maximised = !window.maximised; return true;
    case reset_layout:
      window.maximised = false;
      ++window.layout_serial;
      return true;
    case palette: window.palette_open = !window.palette_open; return true;
    case help: window.help_open = !window.help_open; return true;
    case toggle_theme:
      state.settings.theme = state.settings.theme == Theme::dark ? Theme::light : Theme::dark;
      return true;
    case set_theme: state.settings.theme = command.as<Theme>(); return true;
    case text_larger: state.settings.text_scale = std::min(2.0, state.settings.text_scale + 0.125); return true;
    case text_smaller: state.settings.text_scale = std::max(0.75, state.settings.text_scale - 0.125); return true;
    case text_normal: state.settings.text_scale = 1.0; return true;
    default: return false;
  }
}

bool App::Impl::apply_to_files(const Command& command) {
  using enum CommandId;
  switch (command.id) {
    case open_paths:
      state.window.dialog = WindowState::Dialog::none;
      this->open_paths(command.as<std::vector<std::string>>());
      return true;
    case open_baseline_path:
      state.window.dialog = WindowState::Dialog::none;
      this->open_file(command.as<std::string>(), OpenAs::baseline);
      return true;
    case open_beside_path:
      state.window.dialog = WindowState::Dialog::none;
      this->open_file(command.as<FileWithChanges>().path, OpenAs::beside, command.as<FileWithChanges>().changes);
      return true;
    case open_folder_path:
      state.window.dialog = WindowState::Dialog::none;
      this->open_folder(command.as<std::string>());
      return true;
    case open_sample: this->open_file(state.sample, OpenAs::source); return true;
    case close_file: this->close_source(state.position().source); return true;
    case CommandId::close_source: this->close_source(command.as<SourceId>()); return true;
    case reload_file: reload_source(state.position().source); return true;
    case cancel_loading:
      if (Source* source = find_source(command.as<SourceId>()); source != nullptr && source->control) {
        if (live_.count(source->control.get()) > 0)
          this->close_source(command.as<SourceId>());
        else
          source->control->cancelled = true;
      }
      return true;
    case stop_reading:
      if (Source* source = find_source(command.as<SourceId>()); source != nullptr && source->control)
        source->control->stop_here = true;
      return true;
    case remove_recent:
      std::erase_if(state.recent, [&](const RecentFile& one) { return one.path == command.as<std::string>(); });
      recent_changed_ = true;
      return true;
    default: return false;
  }
}

void App::Impl::copy_text(std::string text, std::string notice) {
  state.window.clipboard = std::move(text);
  state.window.notice = std::move(notice);
  ++state.window.clipboard_serial;
}

}  // namespace hbmscope::gui
