#include "app/gui/shell/answer_bar.h"

#include <imgui.h>

#include "app/gui/core/answer_bar.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/icons.h"

namespace hbmscope::gui {
namespace {

float width_of(const AnswerChip& chip) {
  return ImGui::CalcTextSize(chip.words.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
}

// The title in bold and the sentence after it; both in full in the tooltip.
void draw_sentence(const Look& look, const AnswerBar& bar) {
  const float room = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().WindowPadding.x;
  if (bar.is_failure) ImGui::PushStyleColor(ImGuiCol_Text, look.vec(Role::failure));
  bold_text(shortened(bar.is_failure ? std::string(icon::warning) + "  " + bar.title : bar.title, room));
  if (bar.is_failure) ImGui::PopStyleColor();
  tooltip(bar.title);
  if (bar.sentence.empty()) return;
  ImGui::SameLine(0, ImGui::GetFontSize() * 0.6F);
  text(shortened(bar.sentence, ImGui::GetContentRegionAvail().x - ImGui::GetStyle().WindowPadding.x));
  tooltip(bar.sentence);
}

// As many chips as have room before the buttons; the others are in the tooltip of the last one.
void draw_chips(const Look& look, const AnswerBar& bar, float end, CommandQueue& commands) {
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  bool is_first = true;
  for (const AnswerChip& chip : bar.chips) {
    if (!is_first) ImGui::SameLine(0, gap);
    if (!is_first && ImGui::GetCursorPosX() + width_of(chip) > end) {
      ImGui::NewLine();
      break;
    }
    is_first = false;
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
    ImGui::PushStyleColor(ImGuiCol_Button, look.vec(Role::free, 0.5F));
    ImGui::BeginDisabled(!chip.command);
    ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 1);
    if (ImGui::Button(chip.words.c_str()) && chip.command) commands.push(*chip.command);
    ImGui::PopStyleVar();
    ImGui::EndDisabled();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    tooltip(chip.tooltip);
  }
}

}  // namespace

void draw_answer_bar(const AppState& state, CommandQueue& commands) {
  commands.ask(Question::headline);
  const AnswerBar bar = find_answer_bar(state);
  if (bar.title.empty()) return;
  const Look look(state);
  const ImGuiStyle& style = ImGui::GetStyle();
  ImGui::SetCursorPos({style.WindowPadding.x, ImGui::GetCursorPosY() + style.ItemSpacing.y});
  draw_sentence(look, bar);
  float buttons = 0;
  for (const AnswerChip& button : bar.buttons) buttons += width_of(button) + style.ItemSpacing.x;
  const float end = ImGui::GetWindowWidth() - style.WindowPadding.x - buttons;
  ImGui::SetCursorPosX(style.WindowPadding.x);
  const float line = ImGui::GetCursorPosY();
  draw_chips(look, bar, end, commands);
  float x = end;
  for (const AnswerChip& button : bar.buttons) {
    ImGui::SetCursorPos({x, line});
    if (ImGui::Button(button.words.c_str()) && button.command) commands.push(*button.command);
    tooltip(button.tooltip);
    x += width_of(button) + style.ItemSpacing.x;
  }
}

}  // namespace hbmscope::gui
