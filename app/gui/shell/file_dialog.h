// Chooses a file or folder to open, or a name to write to. It is not modal, and a worker lists the folder, so a slow
// disk blocks nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct FileDialogState {
  WindowState::Dialog shown = WindowState::Dialog::none;
  std::string path;       // The text field at the top: a folder or a file.
  std::string file_name;  // Of the file to write.
  std::string chosen;     // The entry that was clicked.
  bool all_files = false;
  std::shared_ptr<const FolderListing> listed;  // What `path` was set from.
};

void draw_file_dialog(const AppState& state, FileDialogState& dialog, CommandQueue& commands);

}  // namespace hbmscope::gui
