#include "app/gui/views/inspector/draw_inspector.h"

#include "analysis/model/device_name.h"
#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/views/inspector/draw_inspector_span.h"
#include "app/gui/views/inspector/draw_neighbours.h"

namespace hbmscope::gui {
namespace {

const Frame& frame_of(const FrameDetail& detail, FrameIndex frame) {
  return detail.view->frames[static_cast<std::size_t>(frame)];
}

void draw_what(const AppState& state, const FrameDetail& detail, CommandQueue& commands) {
  const Frame& frame = frame_of(detail, detail.frame);
  ImGui::PushFont(bold_font(), ImGui::GetStyle().FontSizeBase * 1.1F);
  wrapped_text(frame.function);
  ImGui::PopFont();
  draw_frame_menu(state, frame, commands);
  if (!frame.file.empty()) {
    const std::string place = frame.file + (frame.line > 0 ? ":" + std::to_string(frame.line) : "");
    dim_text(shortened(place, ImGui::GetContentRegionAvail().x, true));
    tooltip(place + (state.position().request.by == FrameBy::function ? "\nThe function's first line." : ""));
  } else {
    dim_text("source file unknown");
  }
  if (frame.is_library) dim_text("library code");
  if (ImGui::Button("Source")) commands.push(CommandId::show_source);
  ImGui::SameLine();
  if (ImGui::Button("Zoom")) commands.push(CommandId::zoom_to_selection);
  tooltip("Zooms the flame graph to the frame (Z)");
  ImGui::SameLine();
  if (ImGui::Button("Filter")) commands.push(CommandId::filter_to_selection);
  tooltip("Keeps only stacks that pass through the frame");
  ImGui::SameLine();
  if (ImGui::Button("Copy")) commands.push(command::set_clipboard, text_from_table(table_from_detail(detail)));
  tooltip("Copies everything shown here as text");
}

void draw_amount(const Look& look, const char* name, const Weight& weight, const ProfileView& view,
                 std::string_view help) {
  ImGui::TableNextRow(0, look.px(24));
  ImGui::TableNextColumn();
  dim_text(shortened(name, ImGui::GetContentRegionAvail().x, true));
  tooltip(help);
  ImGui::TableNextColumn();
  const double share =
      view.total.bytes == 0 ? 0 : static_cast<double>(weight.bytes) / static_cast<double>(view.total.bytes);
  bar_cell(look, share, amount_text(view, weight.bytes), look.bar());
  tooltip(exact_amount_text(view, weight.bytes) + ", " + text_from_share(weight.bytes, view.total.bytes) + " " +
          base_text(view));
  if (ImGui::TableNextColumn()) right_text(text_from_share(weight.bytes, view.total.bytes), true);
  if (!ImGui::TableNextColumn()) return;
  right_text(text_from_count(weight.count), true);
  tooltip("count");
}

bool begin_amounts(const Look& look, const char* id) {
  // Names need room; in a narrow panel, count and share are only in the tooltip.
  const float room = ImGui::GetContentRegionAvail().x;
  const auto hidden_below = [&](float width) { return room < look.px(width) ? ImGuiTableColumnFlags_Disabled : 0; };
  if (!ImGui::BeginTable(id, 4, ImGuiTableFlags_SizingStretchProp)) return false;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 1);
  ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, look.px(92));
  ImGui::TableSetupColumn("share", ImGuiTableColumnFlags_WidthFixed | hidden_below(270), look.px(58));
  ImGui::TableSetupColumn("count", ImGuiTableColumnFlags_WidthFixed | hidden_below(350), look.px(52));
  return true;
}

void draw_how_much(const Look& look, const FrameDetail& detail) {
  ImGui::SeparatorText("Size");
  const ProfileView& view = *detail.view;
  if (begin_amounts(look, "amounts")) {
    draw_amount(look, "flat", detail.neighbours.self.flat, view,
                "Allocated by the frame itself: the stacks in which it is the innermost frame.");
    draw_amount(look, "cumulative", detail.neighbours.self.cum, view, "Allocated by it and everything that it calls.");
    ImGui::EndTable();
  }
  if (detail.neighbours.self.cum.unknown > 0)
    dim_text("? " + text_from_count(detail.neighbours.self.cum.unknown) + " more of unknown size");
}

void draw_groups(const Look& look, const FrameDetail& detail, const char* id, const std::vector<GroupRow>& rows,
                 bool devices) {
  if (!begin_amounts(look, id)) return;
  for (const GroupRow& row : rows) {
    if (row.weight == Weight{}) continue;
    const std::string name = !row.name ? "(unnamed)" : devices ? parse_device_name(*row.name).short_text() : *row.name;
    draw_amount(look, name.c_str(), row.weight, *detail.view, row.name ? *row.name : "Samples without this label.");
  }
  ImGui::EndTable();
}

void draw_stacks(InspectorState& inspector, const FrameDetail& detail, CommandQueue& commands) {
  ImGui::SeparatorText("Largest stacks through this frame");
  check_box("With library frames", &inspector.all_frames);
  const ProfileView& view = *detail.view;
  for (std::size_t i = 0; i < detail.stacks.size(); ++i) {
    const HeldStack& stack = detail.stacks[i];
    ImGui::PushID(static_cast<int>(i));
    bold_text(amount_text(view, stack.weight.bytes));
    ImGui::SameLine();
    dim_text(text_from_share(stack.weight.bytes, view.total.bytes) + ", count " + text_from_count(stack.weight.count));
    ImGui::Indent();
    for (std::size_t f = 0; f < stack.frames.size(); ++f) {
      const Frame& frame = frame_of(detail, stack.frames[f]);
      if (frame.is_library && !inspector.all_frames && stack.frames[f] != detail.frame) continue;
      ImGui::PushID(static_cast<int>(f));
      const std::string line = frame.function + "  " + location_text(frame);
      if (stack.frames[f] == detail.frame) {
        bold_text(line);
      } else if (ImGui::Selectable(line.c_str())) {
        commands.select(key_from_frame(frame));
      }
      ImGui::PopID();
    }
    ImGui::Unindent();
    ImGui::PopID();
  }
  if (detail.stack_count > detail.stacks.size())
    dim_text("and " + text_from_count(static_cast<std::int64_t>(detail.stack_count - detail.stacks.size())) +
             " smaller ones");
}

}  // namespace

void draw_inspector(const AppState& state, InspectorState& inspector, CommandQueue& commands) {
  if (state.source() == nullptr || state.source()->state != AnswerState::ready) return;
  if (draw_span_inspector(state, inspector, commands)) return;
  commands.ask(Question::detail);
  const FrameKey& selection = state.position().selection;
  if (selection.empty()) return;  // A gap that is gone.
  const Answer<FrameDetail>& answer = state.answers().detail;
  if (answer.failed()) return draw_error(state, answer.error);
  if (!answer.value) {
    if (answer.pending()) {
      draw_pending("the frame", answer.pending_since);
      return;
    }
    bold_text(selection.function);
    wrapped_text("is hidden by the filter.", true);
    if (ImGui::Button("Clear filter")) commands.push(CommandId::clear_filter);
    return;
  }
  const Look look(state);
  const FrameDetail& detail = *answer.value;
  draw_what(state, detail, commands);
  draw_how_much(look, detail);
  ImGui::SeparatorText("Where");
  draw_groups(look, detail, "devices", detail.by_device, true);
  draw_groups(look, detail, "kinds", detail.by_kind, false);
  draw_neighbours(state, detail, commands);
  draw_stacks(inspector, detail, commands);
}

}  // namespace hbmscope::gui
