#include "app/gui/core/code_places.h"

#include <filesystem>

#include "app/gui/core/app_state.h"
#include "app/gui/core/apply_commands.h"
#include "app/gui/core/editor.h"
#include "app/gui/core/source_listing.h"
#include "app/gui/core/worker_pool.h"

namespace hbmscope::gui {
namespace {

const CodePlace* find_place(const AppState& state, const std::string& file) {
  const auto found = state.code_places.find({state.position().source, file});
  return found == state.code_places.end() || !found->second.is_known ? nullptr : &found->second;
}

void look_for(AppState& state, WorkerPool& pool, const std::string& file) {
  const Source* const source = state.source();
  if (source == nullptr || file.empty() || !state.code_places.try_emplace({source->id, file}).second) return;
  pool.post([&state, key = std::pair(source->id, file), path = source->path]() -> WorkerPool::Finish {
    const auto found = find_source_file(key.second, source_folders(path));
    // Absolute, so that no name begins as an option of the editor does.
    std::error_code error;  // Then the path is empty, as if there were no such file.
    const std::string path_found = found ? std::filesystem::absolute(*found, error).string() : std::string();
    return [&state, key, path_found] { state.code_places[key] = {true, path_found}; };
  });
}

}  // namespace

std::string why_no_editor(const AppState& state, const FrameKey& frame) {
  if (frame.file.empty()) return "The file of this frame is unknown.";
  if (state.editor.empty())
    return "No editor with a window is known. Set \"editor\" in settings.json, for example to \"code -g FILE:LINE\", "
           "or VISUAL.";
  const CodePlace* const place = find_place(state, frame.file);
  if (place == nullptr) return "Looking for the file ...";
  return place->path.empty() ? frame.file + " is not on this machine." : std::string();
}

namespace apply {

// One line each, as in a table.
// clang-format off
void look_for_code(AppParts& parts, const FrameKey& frame) { look_for(parts.state, parts.pool, frame.file); }
void open_in_editor(AppParts& parts, const FrameKey& frame) {
  AppState& state = parts.state;
  if (const std::string why = why_no_editor(state, frame); !why.empty()) {
    state.window.notice = why;
    return;
  }
  state.window.program = editor_arguments(state.editor, find_place(state, frame.file)->path, frame.line);
  ++state.window.program_serial;
}
// clang-format on

}  // namespace apply
}  // namespace hbmscope::gui
