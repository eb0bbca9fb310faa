// Selects a file or folder to open, or a name to write to. It is not modal, and a worker lists the folder, so that a
// slow disk blocks nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct FileDialogState {
  WindowState::Dialog shown = WindowState::Dialog::none;
  std::string path;       // The text field at the top: a folder or a file.
  std::string file_name;  // Name of the file to write.
  std::string chosen;     // The clicked entry.
  std::string replaces;   // The path of a file that is there; the next press writes over it.
  bool all_files = false;
  std::shared_ptr<const FolderListing> listed;  // The listing that `path` and `entries` were set from.
  std::vector<FolderEntry> entries;             // Sorted, unless
  bool is_unsorted = false;
  std::string typed;    // The first letters of the entry that is looked for,
  double typed_at = 0;  // and when the last one came, in ImGui's seconds.
};

void draw_file_dialog(const AppState& state, FileDialogState& dialog, CommandQueue& commands);

}  // namespace hbmscope::gui
