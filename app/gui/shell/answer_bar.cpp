#include "app/gui/shell/answer_bar.h"

#include <algorithm>

#include <imgui.h>

#include "app/gui/core/answer_bar.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/icons.h"

namespace hbmscope::gui {
namespace {

float width_of(const AnswerChip& chip) {
  return ImGui::CalcTextSize(chip.words.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
}

// The title in bold, the sentence after it, both in full in the tooltip, and its links: as many as have room.
void draw_sentence(const Look& look, const AnswerBar& bar, CommandQueue& commands) {
  const float gap = ImGui::GetFontSize() * 0.6F;
  const auto room_behind = [] { return ImGui::GetContentRegionAvail().x - ImGui::GetStyle().WindowPadding.x; };
  const float room = room_behind();
  const std::string title = shortened(bar.is_failure ? std::string(icon::warning) + "  " + bar.title : bar.title, room);
  ImGui::PushStyleColor(ImGuiCol_TextLink, look.vec(bar.is_failure ? Role::failure : Role::text));
  ImGui::PushFont(bold_font(), 0.0F);
  if (text_link((title + "###title").c_str()) && bar.shows) commands.push(*bar.shows);
  ImGui::PopFont();
  ImGui::PopStyleColor();
  tooltip(bar.title + (bar.shows ? "\nClick to show that time." : ""));
  const auto width_of_link = [&](const AnswerChip& link) { return ImGui::CalcTextSize(link.words.c_str()).x + gap; };
  if (!bar.sentence.empty()) {
    ImGui::SameLine(0, gap);
    // What one can do is worth more than the end of what is.
    const float first = bar.links.empty() ? 0 : width_of_link(bar.links.front());
    text(shortened(bar.sentence, std::max(room_behind() - first, room / 4)));
    tooltip(bar.sentence);
  }
  bool is_first = true;
  for (const AnswerChip& one : bar.links) {
    ImGui::SameLine(0, gap);
    if (!is_first && room_behind() < width_of_link(one) - gap) {
      ImGui::NewLine();
      break;
    }
    is_first = false;
    const std::string words = shortened(one.words, room_behind());
    if (!one.command)
      text(words);
    else if (text_link((words + "###" + one.words).c_str()))
      push(one, commands);
    tooltip(words == one.words ? one.tooltip : one.words + "\n" + one.tooltip);
  }
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
    if (ImGui::Button(chip.words.c_str())) push(chip, commands);
    ImGui::PopStyleVar();
    ImGui::EndDisabled();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    tooltip(chip.tooltip);
  }
}

}  // namespace

void draw_answer_bar(const AppState& state, CommandQueue& commands) {
  ask_for_answer_bar(state, commands);
  const AnswerBar bar = find_answer_bar(state);
  if (bar.title.empty()) return;
  const Look look(state);
  const ImGuiStyle& style = ImGui::GetStyle();
  ImGui::SetCursorPos({style.WindowPadding.x, ImGui::GetCursorPosY() + style.ItemSpacing.y});
  draw_sentence(look, bar, commands);
  float buttons = 0;
  for (const AnswerChip& button : bar.buttons) buttons += width_of(button) + style.ItemSpacing.x;
  const float end = ImGui::GetWindowWidth() - style.WindowPadding.x - buttons;
  ImGui::SetCursorPosX(style.WindowPadding.x);
  const float line = ImGui::GetCursorPosY();
  draw_chips(look, bar, end, commands);
  float x = end;
  for (const AnswerChip& button : bar.buttons) {
    ImGui::SetCursorPos({x, line});
    if (ImGui::Button(button.words.c_str())) push(button, commands);
    tooltip(button.tooltip);
    x += width_of(button) + style.ItemSpacing.x;
  }
}

}  // namespace hbmscope::gui
