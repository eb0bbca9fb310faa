#include "app/gui/views/diff/draw_diff.h"

#include "analysis/answers/diff.h"
#include "analysis/model/device_name.h"
#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/core/answers.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/diff_settings.h"
#include "app/gui/look/drawing.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

std::string name_of_source(const Source* source) {
  return source == nullptr ? "" : source->name();
}

// The menu of baselines, while none is selected.
void draw_choice(const AppState& state, CommandQueue& commands) {
  const Source* front = state.source();
  wrapped_text("Compare " + name_of_source(front) + " with which baseline?");
  for (const Source& source : state.sources) {
    if (source.id == state.position().source || source.state != AnswerState::ready) continue;
    ImGui::PushID(static_cast<int>(source.id));
    if (ImGui::Button(source.name().c_str())) commands.push(command::compare_with, source.id);
    tooltip(source.path);
    ImGui::PopID();
    ImGui::SameLine();
    dim_text(source.summary ? source.summary->headline : "");
  }
  if (ImGui::Button("Another file...")) commands.push(CommandId::compare_with_file);
}

void draw_side(const Look& look, const char* role, const std::string& name, const std::string& amount, bool is_now) {
  ImGui::PushStyleColor(ImGuiCol_Text, look.role(Role::dim_text));
  ImGui::TextUnformatted(role);
  ImGui::PopStyleColor();
  ImGui::SameLine(0, look.px(6));
  if (is_now) {
    bold_text(name);
  } else {
    text(name);
  }
  ImGui::SameLine(0, look.px(6));
  dim_text(amount);
}

void draw_head(const AppState& state, const Look& look, const ProfileDiff& diff, const ProfileView& view,
               DiffState& local, CommandQueue& commands) {
  const TextPair totals = view.columns.bytes
                              ? texts_from_bytes(diff.now.bytes, diff.baseline.bytes)
                              : TextPair{amount_text(view, diff.now.bytes), amount_text(view, diff.baseline.bytes)};
  ImGui::AlignTextToFramePadding();
  draw_side(look, "now:", name_of_source(state.source()), totals.first, true);
  const std::string baseline = name_of_source(state.baseline());
  flow(ImGui::CalcTextSize(("compared with baseline: " + baseline + totals.second).c_str()).x + look.px(12));
  draw_side(look, "compared with baseline:", baseline, totals.second, false);
  flow(button_width("Swap"));
  if (ImGui::Button("Swap")) commands.push(CommandId::swap_baseline);
  tooltip("Reverses the sign. Sign = now - baseline.");
  draw_copy_menu(ViewKind::diff, commands);

  const std::int64_t change = diff.now.bytes - diff.baseline.bytes;
  ImGui::PushFont(bold_font(), ImGui::GetStyle().FontSizeBase * 1.15F);
  ImGui::PushStyleColor(ImGuiCol_Text, look.role(change > 0 ? Role::grown : change < 0 ? Role::shrunk : Role::text));
  text(delta_amount_text(view, change) + " (" + delta_text_from_share(diff.baseline.bytes, diff.now.bytes) + ")");
  ImGui::PopStyleColor();
  ImGui::PopFont();
  tooltip("now - baseline: " + exact_amount_text(view, diff.now.bytes) + " - " +
          exact_amount_text(view, diff.baseline.bytes));
  ImGui::SameLine();
  dim_text("count " + delta_text_from_count(diff.now.count - diff.baseline.count) + ";  " +
           text_from_share(diff.unmatched_bytes, diff.compared_bytes) + " of all bytes unmatched");
  tooltip(std::string("Share of the bytes of both files whose stacks are in only one of them. Stacks match by "
                      "function and ") +
          (diff.is_by_file_name ? "file name, because one side has no folders" : "the end of the file path") +
          ". With *Match by line*, a moved line is a new stack.");

  if (radio_button("Stacks", !local.by_function)) local.by_function = false;
  ImGui::SameLine();
  if (radio_button("Functions", local.by_function)) local.by_function = true;
  flow(button_width("Match by line") + ImGui::GetFrameHeight());
  bool by_line = state.position().match == StackMatch::line;
  if (check_box("Match by line", &by_line)) commands.push(CommandId::toggle_match_line);
  tooltip("Strict: a stack with a moved line counts as gone and new.");
  flow(button_width("Stop comparing"));
  if (ImGui::Button("Stop comparing")) commands.push(CommandId::stop_comparing);
}

// Only groups that changed: "TPU 3 +1.20 GiB   TPU 4 −12.0 MiB". `any`: the line already has text.
void draw_groups(const Look& look, const std::vector<GroupDiffRow>& rows, bool devices, const ProfileView& view,
                 bool& any) {
  for (const GroupDiffRow& row : rows) {
    const std::int64_t change = row.now.bytes - row.baseline.bytes;
    if (change == 0) continue;
    std::string name = row.name ? (devices ? parse_device_name(*row.name).short_text() : *row.name) : "unnamed";
    const std::string words = delta_amount_text(view, change);
    if (any) flow(ImGui::CalcTextSize((name + words).c_str()).x + look.px(5), look.px(18));
    any = true;
    dim_text(name);
    ImGui::SameLine(0, look.px(5));
    ImGui::PushStyleColor(ImGuiCol_Text, look.role(change > 0 ? Role::grown : Role::shrunk));
    text(words);
    ImGui::PopStyleColor();
    tooltip(amount_text(view, row.baseline.bytes) + " before, " + amount_text(view, row.now.bytes) + " now");
  }
}

void renew_tables(const std::shared_ptr<const ProfileDiff>& diff, DiffState& local) {
  if (local.tables_of == diff) return;
  local.tables_of = diff;
  local.stacks = describe_diff_stacks(diff);
  local.frames = describe_diff_frames(diff);
  local.stacks.title = local.frames.title =
      "now: " + diff->now_name + " compared with baseline: " + diff->baseline_name + "; sign = now - baseline.";
}

}  // namespace

void draw_diff(const AppState& state, DiffState& local, CommandQueue& commands) {
  if (!draw_source_state(state)) return;
  const Source* baseline = state.baseline();
  if (baseline == nullptr) return draw_choice(state, commands);
  if (baseline->state == AnswerState::failed) {
    draw_error(state, baseline->error);
    if (ImGui::Button("Another file...")) commands.push(CommandId::compare_with_file);
    return;
  }
  if (baseline->state == AnswerState::pending) return draw_reading(*baseline, commands);
  if (baseline->id == state.position().source) {
    wrapped_text(baseline->name() + " is the baseline. Choose the file to compare:");
    for (const Source& source : state.sources) {
      if (source.id == baseline->id || source.state != AnswerState::ready) continue;
      ImGui::PushID(static_cast<int>(source.id));
      if (ImGui::Button(source.name().c_str())) commands.push(command::show_source_file, source.id);
      ImGui::PopID();
    }
    if (ImGui::Button("Open a file...")) commands.push(CommandId::open_file);
    return;
  }
  if (!draw_answer_state(state, state.answers().diff, "the diff")) return;
  const auto& view = state.answers().view.value;
  if (!view) return;
  const ProfileDiff& diff = *state.answers().diff.value;
  const Look look(state);
  draw_diff_settings(state, look);
  draw_head(state, look, diff, *view, local, commands);
  bool any = false;
  draw_groups(look, diff.devices, true, *view, any);
  draw_groups(look, diff.kinds, false, *view, any);
  renew_tables(state.answers().diff.value, local);
  const Table& table = local.by_function ? local.frames : local.stacks;
  TableState& rows = local.by_function ? local.frame_rows : local.stack_rows;
  const TableRequest request{.id = local.by_function ? "functions" : "stacks", .find = state.position().find};
  draw_table(state, look, table, local.tables_of, rows, request, commands);
  if (take_copy(state, ViewKind::diff, local.copy_seen)) copy_table(state, table, rows.rows, commands);
}

std::unique_ptr<DrawnView> make_diff() {
  return make_view(draw_diff);
}

}  // namespace hbmscope::gui
