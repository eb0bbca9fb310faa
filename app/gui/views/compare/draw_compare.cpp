#include "app/gui/views/compare/draw_compare.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/table_columns.h"
#include "app/gui/views/compare/compare_table.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

Role role_of_change(std::int64_t change) {
  return change > 0 ? Role::grown : change < 0 ? Role::shrunk : Role::text;
}

void colored_text(const Look& look, Role role, const std::string& words) {
  ImGui::PushStyleColor(ImGuiCol_Text, look.role(role));
  text(words);
  ImGui::PopStyleColor();
}

void draw_side(const Look& look, const char* role, const Moment& moment, const std::string& in_use, bool is_now) {
  dim_text(role);
  ImGui::SameLine(0, look.px(6));
  const std::size_t bracket = moment.text.find(" (");
  const std::string name = moment.text.substr(0, bracket);
  is_now ? bold_text(name) : text(name);
  tooltip(moment.text);
  ImGui::SameLine(0, look.px(6));
  dim_text(in_use);
}

void draw_head(const Look& look, const CompareAnswer& answer, CommandQueue& commands) {
  const BlockChange total = answer.diff.changes.total();
  const TextPair in_use = texts_from_bytes(total.now_bytes, total.baseline_bytes);
  ImGui::AlignTextToFramePadding();
  draw_side(look, "now:", answer.now->moment, in_use.first, true);
  ImGui::SameLine();
  draw_side(look, "compared with pinned:", answer.pinned->moment, in_use.second, false);
  flow(button_width("Swap"));
  if (ImGui::Button("Swap")) commands.push(CommandId::swap_pin);
  tooltip("Shows the pinned time and pins this one. Sign = now - pinned.");
  flow(button_width("Unpin"));
  if (ImGui::Button("Unpin")) commands.push(CommandId::unpin_moment);
  draw_copy_menu(ViewKind::compare, commands);
}

// "+1.20 GiB   new +3.00 GiB in 31   gone −1.80 GiB in 12   same 2,104"
void draw_totals(const Look& look, const CompareAnswer& answer) {
  const BlockChange total = answer.diff.changes.total();
  ImGui::PushFont(bold_font(), ImGui::GetStyle().FontSizeBase * 1.15F);
  colored_text(look, role_of_change(total.delta_bytes()), delta_text_from_bytes(total.delta_bytes()));
  ImGui::PopFont();
  tooltip("now - pinned, of live blocks and handles: " + exact_text_from_bytes(total.now_bytes) + " - " +
          exact_text_from_bytes(total.baseline_bytes));
  for (const NamedChange& named : named_changes) {
    const BlockChange& change = answer.diff.changes.*named.part;
    if (change.count == 0) continue;
    ImGui::SameLine(0, look.px(18));
    dim_text(named.name);
    ImGui::SameLine(0, look.px(5));
    if (change.delta_bytes() != 0) {
      colored_text(look, role_of_change(change.delta_bytes()), delta_text_from_bytes(change.delta_bytes()));
      ImGui::SameLine(0, look.px(5));
      dim_text("in " + text_from_count(static_cast<std::int64_t>(change.count)));
    } else {
      text(text_from_count(static_cast<std::int64_t>(change.count)));
    }
    tooltip(named.words);
  }
}

// Kinds of change without blocks have no column.
std::vector<const NamedChange*> shown_changes(const BlockDiff& diff) {
  std::vector<const NamedChange*> shown;
  for (const NamedChange& named : named_changes)
    if ((diff.changes.*named.part).count > 0) shown.push_back(&named);
  return shown;
}

// If no column is sorted, the order of the query: by absolute change.
void sort_rows(const std::shared_ptr<const CompareAnswer>& answer, CompareState& compare) {
  ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  const bool is_resorted = specs != nullptr && specs->SpecsDirty;
  if (compare.rows_of == answer && !is_resorted) return;
  compare.rows_of = answer;
  compare.rows.resize(answer->diff.user_code.size());
  std::iota(compare.rows.begin(), compare.rows.end(), 0U);
  if (specs == nullptr) return;
  specs->SpecsDirty = false;
  if (specs->SpecsCount == 0) return;
  const auto column = static_cast<std::size_t>(specs->Specs[0].ColumnIndex);
  const auto shown = shown_changes(answer->diff);
  const auto sort_value = [&](std::uint32_t row) {
    const BlockChanges& changes = answer->diff.user_code[row].changes;
    return column == 0 || column > shown.size() ? changes.delta_bytes()
                                                : static_cast<std::int64_t>((changes.*shown[column - 1]->part).count);
  };
  const bool is_ascending = specs->Specs[0].SortDirection == ImGuiSortDirection_Ascending;
  std::stable_sort(compare.rows.begin(), compare.rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::int64_t first = sort_value(a), second = sort_value(b);
    return is_ascending ? first < second : first > second;
  });
}

void draw_row(const AppState& state, const Look& look, const BlockDiffRow& row,
              const std::vector<const NamedChange*>& shown, std::int64_t largest, CommandQueue& commands) {
  const std::int64_t change = row.changes.delta_bytes();
  ImGui::TableNextColumn();
  delta_cell(look, largest == 0 ? 0 : static_cast<double>(change) / static_cast<double>(largest),
             delta_text_from_bytes(change), row.changes.total().now_bytes == 0);
  tooltip(exact_text_from_bytes(row.changes.total().now_bytes) + " now, " +
          exact_text_from_bytes(row.changes.total().baseline_bytes) + " pinned");
  for (const NamedChange* named : shown) {
    ImGui::TableNextColumn();
    const auto count = static_cast<std::int64_t>((row.changes.*named->part).count);
    right_text(text_from_count(count), count == 0);
  }
  ImGui::TableNextColumn();
  const FrameKey frame{row.function, row.file, row.line};
  const bool has_frame = !row.function.empty() || !row.file.empty();
  const bool is_selected = has_frame && state.position().selection == frame;
  if (ImGui::Selectable(own_line_text(row).c_str(), is_selected, ImGuiSelectableFlags_SpanAllColumns))
    commands.select(is_selected || !has_frame ? FrameKey{} : frame);
  tooltip(row.file);
}

void draw_table(const AppState& state, const Look& look, const std::shared_ptr<const CompareAnswer>& answer,
                CompareState& compare, CommandQueue& commands) {
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate | ImGuiTableFlags_ScrollY |
                                    ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable | ImGuiTableFlags_BordersInnerV |
                                    ImGuiTableFlags_NoBordersInBodyUntilResize;
  const auto shown = shown_changes(answer->diff);
  const int columns = 2 + static_cast<int>(shown.size());
  if (!ImGui::BeginTable("compare", columns, flags, size_of_last_table(look))) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  constexpr ImGuiTableColumnFlags number = ImGuiTableColumnFlags_PreferSortDescending;
  std::vector<std::string> titles;
  for (const NamedChange* named : shown) {
    titles.emplace_back(named->name);
    titles.back().front() = static_cast<char>(titles.back().front() - 'a' + 'A');
  }
  std::vector<ColumnSetup> set_up{{"Change", 132, 0, number}};
  for (const std::string& title : titles)
    set_up.push_back({title.c_str(), 64, static_cast<int>(set_up.size()), number});
  set_up.push_back(
      {"Allocated by (your code)", 170, 0, ImGuiTableColumnFlags_WidthStretch | ImGuiTableColumnFlags_NoSort});
  set_up_table_columns(look, set_up);
  table_headers(0, columns - 1);
  sort_rows(answer, compare);
  const auto& rows = answer->diff.user_code;  // Largest change first.
  const std::int64_t largest = rows.empty() ? 0 : clamped_magnitude(rows.front().changes.delta_bytes());
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(compare.rows.size()));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      ImGui::TableNextRow();
      ImGui::PushID(i);
      draw_row(state, look, rows[compare.rows[static_cast<std::size_t>(i)]], shown, largest, commands);
      ImGui::PopID();
    }
  ImGui::EndTable();
}

}  // namespace

void draw_compare(const AppState& state, CompareState& compare, CommandQueue& commands) {
  if (state.answers().pinned.failed()) {
    draw_error(state, state.answers().pinned.error);
    if (ImGui::Button("Unpin")) commands.push(CommandId::unpin_moment);
    return;
  }
  if (!draw_answer_state(state, state.answers().compare, "the comparison")) return;
  const auto answer = state.answers().compare.value;
  const Look look(state);
  draw_head(look, *answer, commands);
  draw_totals(look, *answer);
  if (answer->diff.user_code.empty()) {
    wrapped_text("No block was allocated, released, resized or moved between the two times.");
  } else {
    draw_table(state, look, answer, compare, commands);
  }
  if (take_copy(state, ViewKind::compare, compare.copy_seen)) copy_table(state, table_from_compare(*answer), commands);
}

std::unique_ptr<DrawnView> make_compare() {
  return make_view(draw_compare);
}

}  // namespace hbmscope::gui
