// The rows of the diff: their figures, their order, and their tooltips.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/views/diff/draw_diff.h"

namespace hbmscope::gui {

struct DiffRowShown {
  Change change = Change::same;
  Weight baseline, now;
  Frame frame;       // For a stack: the innermost frame of your code, otherwise the innermost frame.
  FrameKey key;      // The frame that a click selects.
  std::string rest;  // For a stack: "< main < ...", your frames above `frame`.
  std::uint32_t index = 0;
  bool is_stack = false;
};
DiffRowShown shown_diff_row(const ProfileDiff& diff, std::uint32_t index, bool by_function);

// Sorts again if the answer, the choice of rows, the search or the sort order changed.
void sort_diff_rows(const std::shared_ptr<const ProfileDiff>& answer, const std::string& find, DiffState& local);

std::int64_t largest_change(const ProfileDiff& diff, bool by_function);

void draw_diff_tooltip(const ProfileDiff& diff, const ProfileView& view, const DiffRowShown& row);

}  // namespace hbmscope::gui
