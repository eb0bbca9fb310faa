#include "app/gui/core/command_table.h"

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {
namespace {

// The texts of the commands that show views come from the views' rows.
CommandInfo table[] = {
#define X(name, title, shortcut, menu, needs, help) {#name, title, shortcut, menu, help, CommandId::name, Needs::needs},
#define V(name) {"show_" #name, "", "", "View", "", CommandId::show_##name, Needs::view},
    HBMSCOPE_MENU_COMMANDS(X, V)
#undef V
#undef X
#define X(name, help) {#name, "", "", "", help, CommandId::name, Needs::hidden},
        HBMSCOPE_COMMANDS_OF_VIEWS(X)
#undef X
#define X(name, type, help) {#name, "", "", "", help, CommandId::name, Needs::hidden},
            HBMSCOPE_COMMANDS_WITH_ARGUMENT(X)
#undef X
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
  const Source* source = state.source();
  const bool ready = source != nullptr && source->state == AnswerState::ready;
  switch (info_of(id).needs) {
    case Needs::nothing:
      if (id == CommandId::back && state.context().back.empty()) return "There is nothing to go back to.";
      if (id == CommandId::forward && state.context().forward.empty()) return "There is nothing to go forward to.";
      if (id == CommandId::open_failing_sample && state.failing_sample.empty())
        return "The sample was not installed with the program.";
      if (id == CommandId::open_sample && state.sample.empty()) return "The sample was not installed with the program.";
      return {};
    case Needs::hidden: return {};
    case Needs::view:
      if (!ready) return "Open a file first.";
      return why_missing(state, *view_of(id));
    case Needs::profile:
      // Files that could not be read can also be closed.
      if (id == CommandId::close_file && source != nullptr) return {};
      if (id == CommandId::reload_file && source != nullptr) return {};
      return ready ? std::string_view{} : "Open a profile first.";
    case Needs::trace:
      if (!ready) return "Open a snapshot, a recording or a log first.";
      if (!source->trace) return "This file has no addresses and times.";
      return {};
    case Needs::live:
      if (source == nullptr || !source->live) return "This is not a running job.";
      if ((source->live->report.flags & link::status_flag::is_recording) == 0) return "Its recording has stopped.";
      return {};
    case Needs::behind:
      if (source == nullptr || !source->live) return "This is not a running job.";
      if ((source->live->report.flags & link::status_flag::can_skip) == 0)
        return "The hbmscope that observes the job is older and can't skip events.";
      return source->live->is_far_behind() ? std::string_view{} : "The picture is up to date.";
    case Needs::attached:
      if (source == nullptr || !source->live) return "This is not a running job.";
      if ((source->live->report.flags & link::status_flag::is_attached) == 0) return "The job was started by hbmscope.";
      return {};
    case Needs::demo: return state.demo ? std::string_view{} : "No demo is running.";
    case Needs::workload:
      return ready && source->workload ? std::string_view{} : "This is not a TPU workload (examples: samples/tpu).";
    case Needs::baseline:
      return state.baseline() != nullptr ? std::string_view{} : "Choose a baseline first (menu Compare).";
    case Needs::selection:
      if (!ready) return "Open a profile first.";
      return state.position().selection.empty() && !state.position().address ? "Select a frame or a block first."
                                                                             : std::string_view{};
    case Needs::pinned:
      if (!ready || !source->trace) return "Open a snapshot, a recording or a log first.";
      return state.position().pin.empty() ? "Pin a time first (B)." : std::string_view{};
    case Needs::two_sides:
      if (!state.is_split()) return "Only one side is shown (Ctrl+B).";
      return {};
    case Needs::two_files: return state.ready_sources() >= 2 ? std::string_view{} : "Open a second profile first.";
  }
  return {};
}

bool is_checked(const AppState& state, CommandId id) {
  const ViewPosition& position = state.position();
  switch (id) {
    case CommandId::by_function: return position.request.by == FrameBy::function;
    case CommandId::by_line: return position.request.by == FrameBy::line;
    case CommandId::by_file: return position.request.by == FrameBy::file;
    case CommandId::by_package: return position.request.by == FrameBy::package;
    case CommandId::toggle_regions: return position.map_layout == MapLayout::by_region;
    case CommandId::toggle_strip: return position.map_layout == MapLayout::strip;
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
    case CommandId::set_baseline_here:
      return position.baseline != SourceId::none && position.baseline == position.source;
    default: return false;
  }
}

}  // namespace hbmscope::gui
