// Chooses a file or folder to open, or a name to write to. A window like others, not a modal one; the folder is listed
// by a worker, so that a slow disk holds nothing up.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct FileDialogState {
  WindowState::Dialog shown = WindowState::Dialog::none;
  std::string path;       // The line on top: a folder to go to, or a file.
  std::string file_name;  // Of what is written.
  std::string chosen;     // The entry that was clicked.
  bool all_files = false;
  std::shared_ptr<const FolderListing> listed;  // What `path` was set from.
};

void draw_file_dialog(const AppState& state, FileDialogState& dialog, CommandQueue& commands);

}  // namespace hbmscope::gui
