#include "app/gui/views/side_by_side/draw_side_by_side.h"

#include <algorithm>
#include <string>

#include <imgui.h>

#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/draw_document.h"
#include "app/gui/look/draw_table.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/side_by_side.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

void draw_heads(const AppState& state, CommandQueue& commands) {
  const float room = std::min(ImGui::GetFontSize() * 22, ImGui::GetContentRegionAvail().x * 0.4F);
  for (std::size_t side = 0; side < state.contexts.size(); ++side) {
    const ContextScope scope(state, side);
    if (side > 0) ImGui::SameLine(0, ImGui::GetFontSize());
    ImGui::AlignTextToFramePadding();
    bold_text(side_name(side));
    ImGui::SameLine();
    const Source* source = state.source();
    text(source == nullptr ? std::string() : shortened(source->name(), room));
    if (source != nullptr) tooltip(source->path);
  }
  flow(button_width("locked by requests") + 2 * ImGui::GetFrameHeight(), ImGui::GetFontSize());
  ImGui::AlignTextToFramePadding();
  dim_text("times");
  ImGui::SameLine();
  draw_lock(state, commands);
  draw_copy_menu(ViewKind::side_by_side, commands);
}

// Words on the left, figures on the right, or below each other if there is not enough room.
void draw_answer(const AppState& state, const std::shared_ptr<const SideBySideAnswer>& answer, SideBySideState& view,
                 CommandQueue& commands) {
  const Look look(state);
  const float all = ImGui::GetContentRegionAvail().x, least = ImGui::GetFontSize() * 33;
  const bool has_room = all >= 2 * least;
  ImGui::BeginChild("words", {has_room ? all - least - ImGui::GetStyle().ItemSpacing.x : 0, 0},
                    has_room ? 0 : ImGuiChildFlags_AutoResizeY);
  draw_document(state, look, answer->words, view.words, {}, commands);
  ImGui::EndChild();
  if (has_room) ImGui::SameLine();
  ImGui::BeginChild("figures", {0, 0});
  draw_table(state, look, answer->figures, answer, view.figures, {.id = "figures", .fills_view = false}, commands);
  ImGui::EndChild();
}

// As text with both heaps above it.
void copy(const AppState& state, const SideBySideAnswer& answer, CommandQueue& commands) {
  Document all{.title = "A: " + answer.heaps.a.label + ", " + phrase_of(*answer.a) + ". B: " + answer.heaps.b.label +
                        ", " + phrase_of(*answer.b) + "."};
  all.add(*answer.words);
  all.add(answer.figures);
  copy_document(state, all, commands);
}

}  // namespace

void draw_side_by_side(const AppState& state, SideBySideState& view, CommandQueue& commands) {
  draw_heads(state, commands);
  if (!draw_answer_state(state, state.answers().side_by_side, "the differences")) return;
  const auto answer = state.answers().side_by_side.value;
  draw_answer(state, answer, view, commands);
  if (take_copy(state, ViewKind::side_by_side, view.copy_seen)) copy(state, *answer, commands);
}

std::unique_ptr<DrawnView> make_side_by_side() {
  return make_view(draw_side_by_side);
}

}  // namespace hbmscope::gui
