// A table of a document in the window: sorted by a click on a title, filtered by Find, with bars behind figures, a
// tooltip with the exact figure, columns that give way in a narrow window, and a row's action on a click.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/document/document.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {

// What a table keeps between frames.
struct TableState {
  std::vector<std::uint32_t> rows;  // In the order of the screen, those that Find finds.
  std::weak_ptr<const void> rows_of;
  std::string rows_find;
  int column = -1;  // The title that sorts; -1: the order of the answer.
  bool is_ascending = false;
  FrameKey shown_selection;  // The one that the table last scrolled to, and the row of `TableRequest::follow`.
  std::optional<std::size_t> shown_row;
};

// The heap and the time that actions refer to.
struct AnswerPlace {
  std::shared_ptr<const Trace> trace;
  HeapKey heap;
  std::uint64_t event = 0;
};
void apply_action(const AppState& state, const Action& action, const AnswerPlace& place, CommandQueue& commands);

struct TableRequest {
  const char* id = "table";
  std::string find = {};  // Only rows with this in one of their texts.
  // Fills the rest of the view and scrolls; otherwise it is as high as its rows, up to a dozen.
  bool fills_view = true;
  AnswerPlace place = {};
  // Instead of the default, which compares with the selection in other views.
  std::function<bool(std::size_t row)> is_selected = {};
  std::function<void(std::size_t row)> click = {};      // Instead of the row's action.
  std::optional<std::size_t> follow = {};               // Scrolls to this row when it is another one than before.
  std::function<void(std::size_t row)> draw_mark = {};  // Before the row's first text, such as its colour.
};

// The rows for the state, for a view that says how many there are before it draws them. `of`: whose table it is. True
// if they were found again.
bool renew_rows(const Table& table, const std::shared_ptr<const void>& of, const std::string& find, TableState& rows);
void draw_table(const AppState& state, const Look& look, const Table& table, const std::shared_ptr<const void>& of,
                TableState& rows, const TableRequest& request, CommandQueue& commands);

// Copies it in the form that was asked for: these rows of it, in the order of the screen; or all.
void copy_table(const AppState& state, const Table& table, const std::vector<std::uint32_t>& rows,
                CommandQueue& commands);
void copy_table(const AppState& state, const Table& table, CommandQueue& commands);

}  // namespace hbmscope::gui
