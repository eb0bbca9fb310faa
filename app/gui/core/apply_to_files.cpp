// Commands that open, close or reread files, or stop reading them.
#include "app/gui/core/apply_commands.h"

namespace hbmscope::gui {

bool apply_to_files(AppState& state, OpenSources& sources, RecentFiles& recent, const Command& command) {
  using enum CommandId;
  switch (command.id) {
    case open_paths:
      state.window.dialog = WindowState::Dialog::none;
      sources.open_paths(command.as<std::vector<std::string>>());
      return true;
    case open_as_one_job: sources.open_paths(command.as<std::vector<std::string>>(), true); return true;
    case join_files: sources.join_open_files(); return true;
    case open_baseline_path:
      state.window.dialog = WindowState::Dialog::none;
      sources.open_file(command.as<std::string>(), OpenSources::As::baseline);
      return true;
    case open_side_by_side:
      state.window.dialog = WindowState::Dialog::none;
      sources.open_file(command.as<FileWithChanges>().path, OpenSources::As::side_by_side,
                        command.as<FileWithChanges>().changes);
      return true;
    case open_folder_path:
      state.window.dialog = WindowState::Dialog::none;
      sources.open_folder(command.as<std::string>());
      return true;
    case open_text: sources.open_text(command.as<std::string>()); return true;
    case open_failing_sample: sources.open_file(state.failing_sample, OpenSources::As::source); return true;
    case open_sample: sources.open_file(state.sample, OpenSources::As::source); return true;
    case close_file: sources.close_source(state.position().source); return true;
    case close_source: sources.close_source(command.as<SourceId>()); return true;
    case reload_file: sources.reload_source(state.position().source); return true;
    case cancel_loading: sources.cancel_reading(command.as<SourceId>()); return true;
    case stop_reading:
      if (Source* source = state.find_source(command.as<SourceId>()); source != nullptr && source->control)
        source->control->stop_here = true;
      return true;
    case remove_recent: recent.remove(command.as<std::string>()); return true;
    default: return false;
  }
}

}  // namespace hbmscope::gui
