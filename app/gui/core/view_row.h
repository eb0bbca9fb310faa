// All facts about a view except how it is drawn. Each view has a folder in app/gui/views with its row (row.cpp) and the
// files that draw it (draw_*). This table is made from the rows; tabs, menus, keys, palette, help, `--view` and the
// copied commands are made from this table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/gui/core/view_lists.h"

namespace hbmscope::gui {

struct AppState;
class CommandLine;

// Where the layout puts a view. There are two layouts: one for traces and one for profiles, which have no addresses.
enum class DockPlace : std::uint8_t {
  centre,  // Trace: above the tabs. Profile: the left half.
  right,   // Profile: the right half.
  middle,  // Trace: above the centre; one of the tabs if the window is low.
  below,   // A tab at the bottom.
};

enum class ComesForward : std::uint8_t {
  never,
  when_it_appears,
  once_a_file,  // Unless another tab was requested, or one with a higher priority exists. Not for running jobs.
};

struct ViewRow {
  ViewKind kind = ViewKind::summary;
  std::string_view key;               // "heap-map", for --view and the names of exported files.
  std::string_view earlier_key = {};  // An earlier key, which scripts use. Empty if there is none.
  const char* title;                  // "Heap map": the text of the tab.
  std::string_view command;           // "Show heap map", in the menu View and in the palette.
  std::string_view help;              // What the view shows, a sentence.
  std::string_view shortcut;          // Empty: none.
  QuestionSet asks = {};              // Asked while it is drawn. The draw function asks occasional questions.

  bool needs_addresses = false;  // It exists only for traces.
  // Why the open file has nothing to show in it, as a sentence; empty if the view exists. Null if it always exists.
  // Called only with a source; if needs_addresses is set, the source has a trace.
  std::string_view (*why_missing)(const AppState&) = nullptr;
  std::string_view how_to_get = {};  // How to get it on a command line: "--baseline FILE opens one."

  bool is_side_by_side = false;    // Drawn for both sides if there are two; other views show the active side.
  bool has_one_line_head = false;  // Its head shares the line with the side's letter; otherwise it is on the next line.
  DockPlace in_trace = DockPlace::below, in_profile = DockPlace::below;
  int opens_first = 0;  // The view with the highest number of a place is in front at first.
  ComesForward comes_forward = ComesForward::never;
  bool (*has_notes)(const AppState&) = nullptr;  // A dot on its tab: there is something to read.

  // The command that prints the view. Null or empty: `hbmscope report` with the options that the view adds.
  std::string (*report_command)(const AppState&) = nullptr;
  void (*add_report_options)(const AppState&, CommandLine&) = nullptr;
};

// NAME_row, which row.cpp in the folder of the view defines.
#define X(name) extern const ViewRow name##_row;
HBMSCOPE_VIEWS(X)
#undef X

// By ViewKind. app/gui/views, a higher layer, defines this function, because the rows are there.
std::span<const ViewRow> view_table();

const ViewRow& row_of(ViewKind kind);
std::optional<ViewKind> parse_view_kind(std::string_view text);  // By key or title.
std::string view_keys();                                         // "heap-map, address-time, ..."

// Empty if the view has something to show for the open file and selection; otherwise a sentence.
std::string_view why_missing(const AppState& state, ViewKind kind);
bool view_exists(const AppState& state, ViewKind kind);

// True for tabs at the bottom in both layouts; the other views are pictures next to each other.
inline bool is_bottom_tab(const ViewRow& row) {
  return row.in_trace == DockPlace::below && row.in_profile == DockPlace::below;
}

}  // namespace hbmscope::gui
