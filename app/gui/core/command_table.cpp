#include "app/gui/core/command_table.h"

#include "app/gui/core/app_state.h"
#include "app/gui/core/apply_commands.h"

namespace hbmscope::gui {
namespace {

// What a command needs: empty if it is there, otherwise what is missing, as a sentence.
namespace needs {

using Why = std::string_view;

constexpr Why (*nothing)(const AppState&) = nullptr;

bool is_ready(const AppState& state) {
  return state.source() != nullptr && state.source()->state == AnswerState::ready;
}
const std::optional<LiveStatus>* live_of(const AppState& state) {
  return state.source() != nullptr && state.source()->live ? &state.source()->live : nullptr;
}
bool has_flag(const AppState& state, std::uint32_t flag) {
  return ((*live_of(state))->report.flags & flag) != 0;
}

Why file(const AppState& state) {
  return is_ready(state) ? "" : "Open a file first.";
}
Why any_file(const AppState& state) {  // Also one that could not be read.
  return state.source() != nullptr ? "" : "Open a file first.";
}
Why two_files(const AppState& state) {
  return state.ready_sources() >= 2 ? "" : "Open a second file first.";
}
Why trace(const AppState& state) {
  if (!is_ready(state)) return "Open a snapshot, a recording or a log first.";
  return state.source()->trace ? "" : "This file has no addresses and times.";
}
template <ViewKind kind>
Why view(const AppState& state) {
  const Why why = file(state);
  return why.empty() ? why_missing(state, kind) : why;
}
Why live(const AppState& state) {
  if (live_of(state) == nullptr) return "This is not a running job.";
  return has_flag(state, link::status_flag::is_recording) ? "" : "Its recording has stopped.";
}
Why behind(const AppState& state) {
  if (live_of(state) == nullptr) return "This is not a running job.";
  if (!has_flag(state, link::status_flag::can_skip))
    return "The hbmscope that observes the job is older and can't skip events.";
  return (*live_of(state))->is_far_behind() ? "" : "The picture is up to date.";
}
Why attached(const AppState& state) {
  if (live_of(state) == nullptr) return "This is not a running job.";
  return has_flag(state, link::status_flag::is_attached) ? "" : "The job was started by hbmscope.";
}
Why demo(const AppState& state) {
  return state.demo ? "" : "No demo is running.";
}
Why workload(const AppState& state) {
  return is_ready(state) && state.source()->workload ? "" : "This is not a TPU workload (examples: samples/tpu).";
}
Why baseline(const AppState& state) {
  return state.baseline() != nullptr ? "" : "Choose a baseline first (menu Compare).";
}
Why selection(const AppState& state) {
  if (!is_ready(state)) return file(state);
  return state.position().selection.empty() && !state.position().address ? "Select a frame or a block first." : "";
}
Why pinned(const AppState& state) {
  if (!is_ready(state) || !state.source()->trace) return "Open a snapshot, a recording or a log first.";
  return state.position().pin.empty() ? "Pin a time first (B)." : "";
}
Why two_sides(const AppState& state) {
  return state.is_split() ? "" : "Only one side is shown (Ctrl+B).";
}
Why earlier_position(const AppState& state) {
  return state.context().back.empty() ? "There is nothing to go back to." : "";
}
Why later_position(const AppState& state) {
  return state.context().forward.empty() ? "There is nothing to go forward to." : "";
}
Why sample(const AppState& state) {
  return state.sample.empty() ? "The sample was not installed with the program." : "";
}
Why failing_sample(const AppState& state) {
  return state.failing_sample.empty() ? "The sample was not installed with the program." : "";
}

}  // namespace needs

template <void (*apply)(AppParts&)>
void apply_plain(AppParts& parts, const Command&) {
  apply(parts);
}
template <class T, void (*apply)(AppParts&, const T&)>
void apply_with(AppParts& parts, const Command& command) {
  apply(parts, command.as<T>());
}

// The texts of the commands that show views come from the views' rows.
CommandInfo table[] = {
#define ROW(name, title, keys, menu, need, help, is_step) \
  {#name, title, keys, menu, help, CommandId::name, is_step, false, false, needs::need, apply_plain<apply::name>},
#define X(...) ROW(__VA_ARGS__, false)
#define S(...) ROW(__VA_ARGS__, true)
#define V(name) ROW(show_##name, "", "", "View", view<ViewKind::name>, "", true)
    HBMSCOPE_MENU_COMMANDS(X, S, V)
#undef V
#undef S
#undef X
#undef ROW
#define ROW(name, help, is_step, is_report) \
  {#name, "", "", "", help, CommandId::name, is_step, is_report, true, nullptr, apply_plain<apply::name>},
#define X(...) ROW(__VA_ARGS__, false, false)
#define S(...) ROW(__VA_ARGS__, true, false)
#define R(...) ROW(__VA_ARGS__, false, true)
        HBMSCOPE_COMMANDS_OF_VIEWS(X, S, R)
#undef ROW
#define ROW(name, type, help, is_step, is_report) \
  {#name, "", "", "", help, CommandId::name, is_step, is_report, true, nullptr, apply_with<type, apply::name>},
            HBMSCOPE_COMMANDS_WITH_ARGUMENT(X, S, R)
#undef R
#undef S
#undef X
#undef ROW
};

}  // namespace

std::span<const CommandInfo> command_table() {
  static const bool is_complete = [] {
    for (CommandInfo& info : table)
      if (const auto view = view_of(info.id)) {
        const ViewRow& row = row_of(*view);
        info.title = row.command;
        info.shortcut = row.shortcut;
        info.help = row.help;
      }
    return true;
  }();
  static_cast<void>(is_complete);
  return table;
}

const CommandInfo& info_of(CommandId id) {
  return command_table()[static_cast<std::size_t>(id)];
}

std::optional<ViewKind> view_of(CommandId id) {
  switch (id) {
#define X(name) \
  case CommandId::show_##name: return ViewKind::name;
    HBMSCOPE_VIEWS(X)
#undef X
    default: return std::nullopt;
  }
}

bool is_offered(Host host, CommandId id) {
  switch (id) {
    case CommandId::copy_link: return host == Host::browser;
    case CommandId::show_jobs:
    case CommandId::reload_file:  // The browser's own F5.
    case CommandId::quit:
    case CommandId::follow_system_theme:
    case CommandId::stop_recording:
    case CommandId::skip_to_now:
    case CommandId::detach:
    case CommandId::start_demo:
    case CommandId::pause_demo:
    case CommandId::step_demo:
    case CommandId::split_demo:
    case CommandId::end_demo: return host == Host::desktop;
    default: return true;
  }
}

std::string_view shortcut_on(Host host, const CommandInfo& info) {
  const bool is_kept = host == Host::browser && info.id == CommandId::close_file;  // Ctrl+W closes the browser's tab.
  return is_kept ? std::string_view{} : info.shortcut;
}

std::string_view why_not(const AppState& state, CommandId id) {
  if (!is_offered(state.host, id))
    return state.host == Host::browser ? "A page in a browser can't do this; install hbmscope for it."
                                       : "Only a page in a browser has a link.";
  const CommandInfo& info = info_of(id);
  return info.why_not == nullptr ? std::string_view{} : info.why_not(state);
}

bool is_checked(const AppState& state, CommandId id) {
  const ViewPosition& position = state.position();
  switch (id) {
    case CommandId::by_function: return position.request.by == FrameBy::function;
    case CommandId::by_line: return position.request.by == FrameBy::line;
    case CommandId::by_file: return position.request.by == FrameBy::file;
    case CommandId::by_package: return position.request.by == FrameBy::package;
    case CommandId::toggle_regions: return map_layout_of(state, state.context_index()) == MapLayout::by_region;
    case CommandId::toggle_strip: return map_layout_of(state, state.context_index()) == MapLayout::strip;
    case CommandId::play: return state.context().is_playing;
    case CommandId::toggle_fold: return position.fold_library;
    case CommandId::toggle_dropped: return position.request.keep_dropped_frames;
    case CommandId::split: return state.is_split();
    case CommandId::split_demo: return state.demo && state.demo->runs.size() > 1;
    case CommandId::lock_time: return state.lock == SameMoment::time;
    case CommandId::lock_requests: return state.lock == SameMoment::requests;
    case CommandId::lock_nothing: return state.is_split() && !state.lock;
    case CommandId::toggle_match_line: return position.match == StackMatch::line;
    case CommandId::maximise: return state.window.maximised;
    case CommandId::follow_system_theme: return state.settings.follows_system;
    case CommandId::set_baseline_here:
      return position.baseline != SourceId::none && position.baseline == position.source;
    default: return false;
  }
}

}  // namespace hbmscope::gui
