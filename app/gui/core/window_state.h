// Window state that commands change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hbmscope::gui {

// A serial increases by one with each request, so that a view can tell whether it has handled the latest one.
struct WindowState {
  bool palette_open = false, help_open = false, settings_open = false, quit = false;
  enum class HelpPage { keys, terms, about } help_page = HelpPage::keys;
  std::uint64_t help_serial = 0;
  bool maximised = false;  // Only the active view is shown (F11).
  enum class Dialog { none, open_file, open_folder, open_baseline, export_file } dialog = Dialog::none;
  std::string export_format;  // For Dialog::export_file: "svg", "html", "png", "figures.csv", "blocks.csv", ...
  std::uint64_t picture_serial = 0;
  std::string picture_file;         // Target file of the picture of the window,
  bool picture_is_of_view = false;  // or of the view in front alone.
  std::string figures_file;         // Not empty: write the text that Copy gives for the view in front there, as CSV.
  std::uint64_t layout_serial = 0, view_serial = 0, find_serial = 0, filter_serial = 0;
  // Incremented by the key 0, which shows everything; and by each change of the flame graph, which undoes its zoom.
  std::uint64_t zoom_serial = 0, flame_serial = 0;
  std::uint64_t find_step_serial = 0;
  std::uint64_t file_serial = 0;  // Increases when a file that nobody saw before comes to the front, with its own tabs.
  std::uint64_t remedies_serial = 0;  // Changes when Why it failed is to show what would help.
  std::uint64_t fit_selection_serial = 0;
  int find_step = 1;  // F3: 1, Shift+F3: -1.
  std::uint64_t copy_serial = 0;
  bool copy_as_text = false;  // Aligned columns for people instead of tabs for spreadsheets.
  std::uint64_t clipboard_serial = 0;
  std::string clipboard;             // The text of the last copy.
  std::uint64_t noted_bookmark = 0;  // The bookmark whose note is being typed. 0 if there is none.
  std::uint64_t link_serial = 0;     // Changes when the link to a page is to be copied.
  std::uint64_t paste_serial = 0;    // Changes when what is in the clipboard is to be opened.
  std::vector<std::string> program;  // To start, with its arguments.
  std::uint64_t program_serial = 0;
  std::string tiles;   // Not empty: the window shows only the tile picture of this layout.
  std::string notice;  // "Copied 214 rows.", shown in the status line until the next command.
};

}  // namespace hbmscope::gui
