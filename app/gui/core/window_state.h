// What commands change about the window itself.
#pragma once

#include <cstdint>
#include <string>

namespace hbmscope::gui {

// A serial grows by one with each request, so that a view knows whether it has seen the last one.
struct WindowState {
  bool palette_open = false, help_open = false, quit = false;
  bool maximised = false;  // Only the active view is shown (F11).
  enum class Dialog { none, open_file, open_folder, open_baseline, export_file } dialog = Dialog::none;
  std::string export_format;  // For Dialog::export_file: "svg", "html", "png", "figures.csv", "blocks.csv", ...
  std::uint64_t picture_serial = 0;
  std::string picture_file;  // Where the picture of the view in front goes.
  std::string figures_file;  // Not empty: what the view in front would copy goes there, as CSV.
  std::uint64_t layout_serial = 0, view_serial = 0, find_serial = 0, filter_serial = 0, zoom_serial = 0;
  std::uint64_t find_step_serial = 0;
  std::uint64_t find_blocks_serial = 0, fit_selection_serial = 0;
  int find_step = 1;  // F3: 1, Shift+F3: -1.
  std::uint64_t copy_serial = 0;
  bool copy_as_text = false;  // Aligned columns for people instead of tabs for spreadsheets.
  std::uint64_t clipboard_serial = 0;
  std::string clipboard;  // What the last copy put there.
  std::string tiles;      // Not empty: all of the window is the picture of this layout's tiles.
  std::string notice;     // "Copied 214 rows.", shown in the status line until the next command.
};

}  // namespace hbmscope::gui
