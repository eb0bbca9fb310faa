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
  Frame frame;       // Of a stack: its innermost frame that is the person's own, else its innermost.
  FrameKey key;      // What a click selects.
  std::string rest;  // Of a stack: "< main < ..."; the own frames above.
  std::uint32_t index = 0;
  bool is_stack = false;
};
DiffRowShown shown_diff_row(const ProfileDiff& diff, std::uint32_t index, bool by_function);

// Sorts anew when the answer, the choice of rows, the search or the header's order changed.
void sort_diff_rows(const std::shared_ptr<const ProfileDiff>& answer, const std::string& find, DiffState& local);

std::int64_t largest_change(const ProfileDiff& diff, bool by_function);

void draw_diff_tooltip(const ProfileDiff& diff, const ProfileView& view, const DiffRowShown& row);

}  // namespace hbmscope::gui
