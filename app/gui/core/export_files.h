// Writes exports: a profile in another format, the rows of a trace, the figures of a view.
#pragma once

#include <filesystem>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/worker_pool.h"

namespace hbmscope::gui {

// Exports in the format that the dialog was opened for. It never overwrites an open file.
void start_export(AppState& state, WorkerPool& pool, const std::string& path);
// The whole window ("png"), or the view in front ("view.png"), in the folder where the program was started.
void start_picture(AppState& state, WorkerPool& pool, const std::string& format);
// "train.png", "train.heap_map.csv": of the source and perhaps the view in front, in the format of
// WindowState::export_format.
std::string suggested_export_name(const AppState& state);
// A name that no file has: "train.heap_map.png", "train.heap_map-2.png".
std::string unused_path(const std::filesystem::path& wanted);
void write_text(AppState& state, WorkerPool& pool, const std::string& path, std::string text);

}  // namespace hbmscope::gui
