// All that the program knows of a view without drawing it. Each view has a folder in app/gui/views with its row (row.h)
// and the files that draw it (draw_*); this table is made of the rows, and tabs, menus, keys, palette, help, `--view`
// and the copied commands are made of this table.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/gui/core/question.h"
#include "app/gui/core/view_kind.h"

namespace hbmscope::gui {

struct AppState;
class CommandLine;

// Where the layout puts a view; there is one for traces and one for profiles, which have no addresses.
enum class DockPlace : std::uint8_t {
  centre,  // Of a trace the upper half. Of a profile the left one.
  right,   // Of a profile: the other half.
  middle,  // Of a trace: under the centre, over the tabs; one of the tabs where the window is low.
  below,   // A tab at the bottom.
};

enum class ComesForward : std::uint8_t {
  never,
  when_it_appears,
  once_a_file,  // Unless another tab was asked for, or one that opens before it is there. Not for a running job.
};

struct QuestionSet {
  constexpr QuestionSet(std::initializer_list<Question> questions) {
    for (const Question question : questions) bits |= bit_of(question);
  }
  constexpr bool has(Question question) const { return (bits & bit_of(question)) != 0; }

  static constexpr std::uint32_t bit_of(Question question) { return 1U << static_cast<unsigned>(question); }
  std::uint32_t bits = 0;
};

struct ViewRow {
  ViewKind kind = ViewKind::summary;
  std::string_view key;       // "heap-map", for --view and the names of exported files.
  const char* title;          // "Heap map": the text of the tab.
  std::string_view command;   // "Show heap map", in the menu View and in the palette.
  std::string_view help;      // What the view shows, a sentence.
  std::string_view shortcut;  // Empty: none.
  QuestionSet asks;           // While it is drawn. What it asks only now and then, its draw function asks.

  bool needs_addresses = false;  // It exists for traces only.
  // A sentence on why the file in front has nothing to show in it; empty where it exists. Null: it always does. Called
  // with a source, which has a trace where it needs addresses.
  std::string_view (*why_missing)(const AppState&) = nullptr;
  std::string_view how_to_get = {};  // What brings it, for a command line: "--baseline FILE opens one."

  bool is_side_by_side = false;    // Drawn for both sides where there are two; others show the active one.
  bool has_one_line_head = false;  // It shares the line with the side's letter, else it has a line under the side's.
  DockPlace in_trace = DockPlace::below, in_profile = DockPlace::below;
  int opens_first = 0;  // Of the views of a place the one with the most is in front at first.
  ComesForward comes_forward = ComesForward::never;
  bool (*has_notes)(const AppState&) = nullptr;  // A dot on its tab: there is something to read.

  // The command that prints what it shows. Null or empty: `hbmscope report`, with the options that the view adds.
  std::string (*report_command)(const AppState&) = nullptr;
  void (*add_report_options)(const AppState&, CommandLine&) = nullptr;
};

// By ViewKind. The rows stand above this folder, in app/gui/views, which defines this function.
std::span<const ViewRow> view_table();

const ViewRow& row_of(ViewKind kind);
std::optional<ViewKind> parse_view_kind(std::string_view text);  // By key or title.
std::string view_keys();                                         // "heap-map, address-time, ..."

// Empty where the file in front, and what is selected, have something to show in it; else a sentence.
std::string_view why_missing(const AppState& state, ViewKind kind);
bool view_exists(const AppState& state, ViewKind kind);

// A tab at the bottom whatever the layout; the others are pictures that stand next to one another.
inline bool is_bottom_tab(const ViewRow& row) {
  return row.in_trace == DockPlace::below && row.in_profile == DockPlace::below;
}

}  // namespace hbmscope::gui
