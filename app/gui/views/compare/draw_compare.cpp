#include "app/gui/views/compare/draw_compare.h"

#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "analysis/answers/diff.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
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

void draw_side(const Look& look, const char* role, const TraceMoment& moment, const std::string& in_use, bool is_now) {
  dim_text(role);
  ImGui::SameLine(0, look.px(6));
  const std::string name = short_phrase_of(moment);
  is_now ? bold_text(name) : text(name);
  tooltip(phrase_of(moment));
  ImGui::SameLine(0, look.px(6));
  dim_text(in_use);
}

void draw_head(const Look& look, const CompareAnswer& answer, CommandQueue& commands) {
  const BlockChange total = answer.diff.changes.total();
  const TextPair in_use = texts_from_bytes(total.now_bytes, total.baseline_bytes);
  ImGui::AlignTextToFramePadding();
  draw_side(look, "now,", *answer.now, in_use.first, true);
  ImGui::SameLine();
  draw_side(look, "compared with the pinned time,", *answer.pinned, in_use.second, false);
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
    tooltip(named.meaning);
  }
}

void renew_table(const std::shared_ptr<const CompareAnswer>& answer, CompareState& compare) {
  if (compare.table_of == answer) return;
  compare.table_of = answer;
  compare.table = describe_block_diff({answer, &answer->diff});
  const BlockChange total = answer->diff.changes.total();
  const TextPair sides = texts_from_bytes(total.now_bytes, total.baseline_bytes);
  compare.table.title =
      fmt::format("now, {}: in use {}; pinned, {}: in use {}; change {} (now - pinned)", phrase_of(*answer->now),
                  sides.first, phrase_of(*answer->pinned), sides.second, delta_text_from_bytes(total.delta_bytes()));
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
  }
  renew_table(answer, compare);
  if (!compare.table.rows.empty()) {
    const TableRequest request{.id = "compare", .find = state.position().find};
    draw_table(state, look, compare.table, answer, compare.rows, request, commands);
  }
  if (take_copy(state, ViewKind::compare, compare.copy_seen))
    copy_table(state, compare.table, compare.rows.rows, commands);
}

std::unique_ptr<DrawnView> make_compare() {
  return make_view(draw_compare);
}

}  // namespace hbmscope::gui
