#include "app/gui/views/inspector/draw_neighbours.h"

#include <algorithm>

#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/core/answers.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"

namespace hbmscope::gui {
namespace {

void draw_edges(const AppState& state, const char* id, const FrameDetail& detail, const std::vector<TopRow>& edges,
                const char* none, CommandQueue& commands) {
  constexpr std::size_t most = 12;
  if (edges.empty()) return dim_text(none);
  const Look look(state);
  const ProfileView& view = *detail.view;
  const std::int64_t whole = std::max<std::int64_t>(1, detail.neighbours.self.cum.bytes);
  const float room = ImGui::GetContentRegionAvail().x;
  if (ImGui::BeginTable(id, 3, ImGuiTableFlags_SizingStretchProp)) {
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 1.6F);
    ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, look.px(92));
    ImGui::TableSetupColumn(
        "share", ImGuiTableColumnFlags_WidthFixed | (room < look.px(290) ? ImGuiTableColumnFlags_Disabled : 0),
        look.px(58));
    for (std::size_t i = 0; i < std::min(edges.size(), most); ++i) {
      const TopRow& edge = edges[i];
      ImGui::TableNextRow(0, look.px(24));
      ImGui::PushID(static_cast<int>(i));
      ImGui::TableNextColumn();
      if (edge.frame == FrameIndex::none) {
        dim_text("(outermost)");
      } else {
        const Frame& frame = view.frames[static_cast<std::size_t>(edge.frame)];
        if (ImGui::Selectable(frame.function.c_str())) commands.select(key_from_frame(frame));
        draw_frame_menu(state, frame, commands);
        tooltip(frame.function + "\n" + location_text(frame));
      }
      ImGui::TableNextColumn();
      bar_cell(look, static_cast<double>(edge.cum.bytes) / static_cast<double>(whole),
               amount_text(view, edge.cum.bytes), look.bar());
      if (!ImGui::TableNextColumn()) {
        ImGui::PopID();
        continue;
      }
      right_text(text_from_share(edge.cum.bytes, detail.neighbours.self.cum.bytes), true);
      tooltip("of the " + amount_text(view, detail.neighbours.self.cum.bytes) +
              " that pass through the selected frame");
      ImGui::PopID();
    }
    ImGui::EndTable();
  }
  if (edges.size() > most) dim_text("and " + text_from_count(static_cast<std::int64_t>(edges.size() - most)) + " more");
}

}  // namespace

void draw_neighbours(const AppState& state, const FrameDetail& detail, CommandQueue& commands) {
  ImGui::SeparatorText("Callers");
  draw_edges(state, "callers", detail, detail.neighbours.callers, "none: it is the outermost frame", commands);
  ImGui::SeparatorText("Callees");
  draw_edges(state, "callees", detail, detail.neighbours.callees, "none: it is the innermost frame", commands);
}

}  // namespace hbmscope::gui
