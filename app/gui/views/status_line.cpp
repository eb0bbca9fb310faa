#include "app/gui/views/status_line.h"

#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/views/drawing.h"

namespace hbmscope::gui {
namespace {

std::string seen_text(const ProfileView& view) {
  return text_from_count(static_cast<std::int64_t>(view.sample_count())) + " of " +
         text_from_count(static_cast<std::int64_t>(view.profile->sample_count())) + " samples, " +
         amount_text(view, view.selected.bytes) + " of " + amount_text(view, view.total.bytes) + " (" +
         text_from_share(view.selected.bytes, view.total.bytes) + " of the profile)";
}

void divide() {
  ImGui::SameLine(0, ImGui::GetFontSize());
  dim_text("|");
  ImGui::SameLine(0, ImGui::GetFontSize());
}

}  // namespace

void draw_status_line(const AppState& state) {
  ImGui::SetCursorPosX(ImGui::GetStyle().WindowPadding.x + 2);
  ImGui::AlignTextToFramePadding();
  const Source* source = state.source();
  if (!state.answers().view.value) dim_text(source == nullptr ? "" : source->name());
  const auto& view = state.answers().view;
  if (view.value) {
    text(seen_text(*view.value));
    tooltip(exact_amount_text(*view.value, view.value->selected.bytes) + " of " +
            exact_amount_text(*view.value, view.value->total.bytes));
    if (view.value->total.unknown > 0) {
      divide();
      text("? " + text_from_count(view.value->total.unknown) + " of unknown size");
      tooltip("Counted, never summed.");
    }
    if (source != nullptr && source->profile && is_device_memory_profile(*source->profile)) {
      divide();
      dim_text("array sizes, before rounding and padding");
    }
  }
  if (view.pending()) {
    divide();
    dim_text("filtering ...");
  }
  if (state.window.notice.empty()) return;
  divide();
  const float space = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().WindowPadding.x;
  text(shortened(state.window.notice, space));
  tooltip(state.window.notice);
}

}  // namespace hbmscope::gui
