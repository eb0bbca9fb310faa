#include "app/gui/views/diff/draw_diff_rows.h"

#include <algorithm>
#include <cstdlib>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"

namespace hbmscope::gui {
namespace {

const Frame& frame_at(const ProfileDiff& diff, FrameIndex frame) {
  return diff.frame_table[static_cast<std::size_t>(frame)];
}

struct Amounts {
  Weight baseline, now;
  Change change;
};
Amounts amounts_of(const ProfileDiff& diff, std::uint32_t index, bool by_function) {
  if (by_function) return {diff.frames[index].baseline_flat, diff.frames[index].now_flat, diff.frames[index].change};
  return {diff.stacks[index].baseline, diff.stacks[index].now, diff.stacks[index].change};
}

bool row_found(const ProfileDiff& diff, std::uint32_t index, bool by_function, const std::string& find) {
  if (find.empty()) return true;
  if (by_function) return found_by(find, diff.frames[index].frame);
  const auto& stack = diff.stacks[index].stack;
  return std::any_of(stack.begin(), stack.end(),
                     [&](FrameIndex frame) { return found_by(find, frame_at(diff, frame)); });
}

std::int64_t sort_value(const Amounts& amounts, int column) {
  switch (column) {
    case 1: return amounts.baseline.bytes;
    case 2: return amounts.now.bytes;
    case 3: return amounts.now.count - amounts.baseline.count;
    case 4: return static_cast<std::int64_t>(amounts.change);
    default: return amounts.now.bytes - amounts.baseline.bytes;
  }
}

// Leaves out frames that are equal on both sides.
bool worth_a_row(const Amounts& amounts) {
  return amounts.now.bytes != amounts.baseline.bytes || amounts.now.count != amounts.baseline.count;
}

}  // namespace

DiffRowShown shown_diff_row(const ProfileDiff& diff, std::uint32_t index, bool by_function) {
  const Amounts amounts = amounts_of(diff, index, by_function);
  DiffRowShown row{amounts.change, amounts.baseline, amounts.now, {}, {}, {}, index, !by_function};
  if (by_function) {
    row.frame = diff.frames[index].frame;
    row.key = {row.frame.function, row.frame.file, 0};
    return row;
  }
  const auto& stack = diff.stacks[index].stack;
  auto own =
      std::find_if(stack.begin(), stack.end(), [&](FrameIndex frame) { return !frame_at(diff, frame).is_library; });
  if (own == stack.end()) own = stack.begin();
  if (own == stack.end()) {
    row.frame.function = "(no stack)";
    return row;
  }
  row.frame = frame_at(diff, *own);
  row.key = {row.frame.function, row.frame.file, 0};
  for (auto above = own + 1; above != stack.end(); ++above) {
    if (frame_at(diff, *above).is_library) continue;
    row.rest += (row.rest.empty() ? "< " : " < ") + frame_at(diff, *above).function;
  }
  return row;
}

void sort_diff_rows(const std::shared_ptr<const ProfileDiff>& answer, const std::string& find, DiffState& local) {
  const ProfileDiff& diff = *answer;
  ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  const bool resorted = specs != nullptr && specs->SpecsDirty;
  if (resorted) {
    local.by_size = specs->SpecsCount == 0;
    if (!local.by_size) {
      local.column = specs->Specs[0].ColumnIndex;
      local.ascending = specs->Specs[0].SortDirection == ImGuiSortDirection_Ascending;
    }
    specs->SpecsDirty = false;
  }
  const bool same = local.rows_of == answer && local.rows_by_function == local.by_function && local.rows_find == find;
  if (same && !resorted) return;
  local.rows_of = answer;
  local.rows_by_function = local.by_function;
  local.rows_find = find;
  local.rows.clear();
  const std::size_t count = local.by_function ? diff.frames.size() : diff.stacks.size();
  for (std::uint32_t i = 0; i < count; ++i)
    if (worth_a_row(amounts_of(diff, i, local.by_function)) && row_found(diff, i, local.by_function, find))
      local.rows.push_back(i);
  if (local.by_size) return;  // The order of the query.
  std::stable_sort(local.rows.begin(), local.rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::int64_t first = sort_value(amounts_of(diff, a, local.by_function), local.column);
    const std::int64_t second = sort_value(amounts_of(diff, b, local.by_function), local.column);
    return local.ascending ? first < second : first > second;
  });
}

std::int64_t largest_change(const ProfileDiff& diff, bool by_function) {
  // Both lists begin with the largest absolute change.
  if (by_function)
    return diff.frames.empty() ? 0 : std::abs(diff.frames[0].now_flat.bytes - diff.frames[0].baseline_flat.bytes);
  return diff.stacks.empty() ? 0 : std::abs(diff.stacks[0].delta_bytes());
}

void draw_diff_tooltip(const ProfileDiff& diff, const ProfileView& view, const DiffRowShown& row) {
  ImGui::BeginTooltip();
  bold_text(std::string(text_from_change(row.change)) + ": " +
            delta_amount_text(view, row.now.bytes - row.baseline.bytes));
  text("baseline " + exact_amount_text(view, row.baseline.bytes) + ", now " + exact_amount_text(view, row.now.bytes));
  if (row.is_stack) {
    ImGui::Separator();
    constexpr std::size_t most = 30;
    const auto& stack = diff.stacks[row.index].stack;
    for (std::size_t i = 0; i < std::min(stack.size(), most); ++i) {
      const Frame& frame = frame_at(diff, stack[i]);
      const std::string line = frame.function + "  " + location_text(frame);
      if (frame.is_library) {
        dim_text(line);
      } else {
        text(line);
      }
    }
    if (stack.size() > most)
      dim_text("... " + text_from_count(static_cast<std::int64_t>(stack.size() - most)) + " more");
  }
  ImGui::EndTooltip();
}

}  // namespace hbmscope::gui
