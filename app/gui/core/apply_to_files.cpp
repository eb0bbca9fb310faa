// Commands that open, close or reread files, or stop reading them.
#include "app/gui/core/apply_commands.h"
#include "app/gui/core/open_sources.h"
#include "app/gui/core/recent_files.h"

namespace hbmscope::gui::apply {

// One line each, as in a table.
// clang-format off
void open_paths(AppParts& parts, const std::vector<std::string>& paths) {
  close_dialog(parts);
  parts.sources.open_paths(paths);
}
void open_as_one_job(AppParts& parts, const std::vector<std::string>& paths) { parts.sources.open_paths(paths, true); }
void join_files(AppParts& parts) { parts.sources.join_open_files(); }
void open_baseline_path(AppParts& parts, const std::string& path) {
  close_dialog(parts);
  parts.sources.open_file(path, OpenSources::As::baseline);
}
void open_side_by_side(AppParts& parts, const FileWithChanges& file) {
  close_dialog(parts);
  parts.sources.open_file(file.path, OpenSources::As::side_by_side, file.changes);
}
void open_folder_path(AppParts& parts, const std::string& path) {
  close_dialog(parts);
  parts.sources.open_folder(path);
}
void open_text(AppParts& parts, const std::string& text) { parts.sources.open_text(text); }
void open_failing_sample(AppParts& parts) {
  parts.sources.open_file(parts.state.failing_sample, OpenSources::As::source);
}
void open_sample(AppParts& parts) { parts.sources.open_file(parts.state.sample, OpenSources::As::source); }
void close_file(AppParts& parts) { parts.sources.close_source(parts.state.position().source); }
void close_source(AppParts& parts, const SourceId& source) { parts.sources.close_source(source); }
void reload_file(AppParts& parts) { parts.sources.reload_source(parts.state.position().source); }
void cancel_loading(AppParts& parts, const SourceId& source) { parts.sources.cancel_reading(source); }
void stop_reading(AppParts& parts, const SourceId& id) {
  if (Source* source = parts.state.find_source(id); source != nullptr && source->control)
    source->control->stop_here = true;
}
void remove_recent(AppParts& parts, const std::string& path) { parts.recent.remove(path); }
// clang-format on

}  // namespace hbmscope::gui::apply
