#include "app/gui/views/inspector/draw_inspector_span.h"

#include <algorithm>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/editor_item.h"
#include "app/gui/views/inspector/span_detail.h"

namespace hbmscope::gui {
namespace {

void select(const HeapMapAnswer& map, std::uint64_t address, CommandQueue& commands) {
  const HeapSpan* span = map.spans.find(address);
  commands.push(command::select_address, {address, span != nullptr ? frame_of_span(map, *span) : FrameKey{}});
}

void follow(const HeapMapAnswer& map, const DetailLine& line, CommandQueue& commands) {
  if (!line.heap) return select(map, *line.address, commands);
  commands.push(command::choose_heap, *line.heap);
  commands.push(command::select_address, {*line.address, {}});
}

void draw_title(const SpanDetail& detail, const AddressAnswer* address, bool is_block, CommandQueue& commands) {
  ImGui::PushFont(bold_font(), ImGui::GetStyle().FontSizeBase * 1.1F);
  wrapped_text(detail.title);
  ImGui::PopFont();
  if (ImGui::Button("Show")) {
    commands.push(CommandId::show_heap_map);
    commands.push(CommandId::zoom_to_selection);
  }
  tooltip("Zooms the heap map to the block (Z)");
  ImGui::SameLine();
  if (is_block) {
    if (ImGui::Button("In Blocks")) commands.push(CommandId::show_blocks);
    tooltip("Shows its row in the table of blocks");
    ImGui::SameLine();
  }
  if (ImGui::Button("Copy")) commands.push(command::set_clipboard, text_from_table(table_from_span(detail, address)));
  tooltip("Copies everything shown here as text");
}

void draw_sections(const Look& look, const HeapMapAnswer& map, const SpanDetail& detail, CommandQueue& commands) {
  for (const DetailSection& section : detail.sections) {
    ImGui::SeparatorText(section.title.c_str());
    if (!ImGui::BeginTable(section.title.c_str(), 2, ImGuiTableFlags_SizingStretchProp)) continue;
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, look.px(76));
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 1);
    for (std::size_t i = 0; i < section.lines.size(); ++i) {
      const DetailLine& line = section.lines[i];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      dim_text(line.name);
      ImGui::TableNextColumn();
      if (line.at) {
        ImGui::PushID(static_cast<int>(i));
        if (text_link(shortened(line.value, ImGui::GetContentRegionAvail().x).c_str()))
          commands.push(command::set_moment, *line.at);
        ImGui::PopID();
      } else if (!line.address) {
        wrapped_text(line.value);
      } else {
        ImGui::PushID(static_cast<int>(i));
        if (ImGui::Selectable(shortened(line.value, ImGui::GetContentRegionAvail().x).c_str()))
          follow(map, line, commands);
        ImGui::PopID();
      }
      tooltip(line.address ? line.value + (line.exact.empty() ? "" : " (" + line.exact + ")") : line.exact);
    }
    ImGui::EndTable();
  }
}

void draw_layout(const AppState& state, InspectorState& inspector, const SpanDetail& detail, CommandQueue& commands) {
  if (!detail.tiles) return;
  ImGui::SeparatorText("Tiles");
  draw_tiles(state, inspector.tiles, *detail.tiles, Look(state).px(160));
  if (ImGui::Button("Larger")) commands.push(command::show_tiles, detail.tiles->layout);
  tooltip(
      "Shows the tiles in the whole window; Escape goes back. hbmscope tpu layout --picture writes them to a file.");
}

void draw_line_menu(const AppState& state, const StackLine& line, CommandQueue& commands) {
  if (!ImGui::BeginPopupContextItem("line")) return;
  draw_editor_item(state, line.frame, commands);
  if (ImGui::MenuItem("Copy")) commands.push(command::set_clipboard, line.text);
  ImGui::EndPopup();
}

// Your code first. Library frames are shown only on request, or if there are no others.
void draw_stack(const AppState& state, InspectorState& inspector, const SpanDetail& detail, CommandQueue& commands) {
  if (detail.stack.empty()) return;
  ImGui::SeparatorText(detail.stack_heading.c_str());
  const auto own = std::count_if(detail.stack.begin(), detail.stack.end(), [](const StackLine& l) { return l.is_own; });
  const std::size_t library = detail.stack.size() - static_cast<std::size_t>(own);
  if (own > 0 && library > 0)
    check_box(("Show " + text_from_count(library) + " library frames").c_str(), &inspector.all_frames);
  const bool all = inspector.all_frames || own == 0;
  for (std::size_t i = 0; i < detail.stack.size(); ++i) {
    const StackLine& line = detail.stack[i];
    if (!line.is_own && !all) continue;
    ImGui::PushID(static_cast<int>(i));
    if (!line.is_own) ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyle().Colors[ImGuiCol_TextDisabled]);
    const bool is_selected = line.frame == state.position().selection;
    if (ImGui::Selectable(shortened(line.text, ImGui::GetContentRegionAvail().x).c_str(), is_selected)) {
      commands.push(command::select_address, {*state.position().address, line.frame});
      commands.push(CommandId::show_source);
    }
    if (!line.is_own) ImGui::PopStyleColor();
    draw_line_menu(state, line, commands);
    tooltip(line.text + "\n" + line.frame.file + "\nClick to show its source.");
    ImGui::PopID();
  }
}

void draw_cell(const AppState& state, const HeapMapAnswer& map, const HeapSpan& selected, CommandQueue& commands) {
  if (!state.position().cell) return;
  const std::vector<const HeapSpan*> blocks = blocks_in(map.spans, *state.position().cell);
  if (blocks.size() < 2) return;
  ImGui::SeparatorText(("1 of " + text_from_count(blocks.size()) + " blocks in this cell").c_str());
  const float line = ImGui::GetTextLineHeightWithSpacing();
  ImGui::BeginChild("cell", {0, line * static_cast<float>(std::min<std::size_t>(blocks.size(), 6)) + line / 2});
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(blocks.size()));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const HeapSpan& span = *blocks[static_cast<std::size_t>(i)];
      ImGui::PushID(i);
      const BlockLabels* labels = labels_of_stream(state, *map.moment->trace, map.heap.stream);
      const std::string words = text_from_span(map, span, labels).title;
      const std::string row = text_from_bytes(static_cast<std::int64_t>(span.size)) + "  " + words;
      if (ImGui::Selectable(shortened(row, ImGui::GetContentRegionAvail().x).c_str(), &span == &selected)) {
        commands.push(command::select_address, {span.begin, frame_of_span(map, span), {}, state.position().cell});
      }
      ImGui::PopID();
    }
  ImGui::EndChild();
}

void draw_history(const AppState& state, InspectorState& inspector, const Look& look, CommandQueue& commands) {
  const Answer<AddressAnswer>& answer = state.answers().address;
  ImGui::SeparatorText("History of this address");
  if (answer.failed()) return draw_error(state, answer.error);
  if (answer.pending() || !answer.value) {
    draw_pending("the history", answer.pending_since, answer.work.get());
    return;
  }
  const AddressHistory& history = answer.value->history;
  if (history.rows.empty()) {
    dim_text("No block was ever allocated here.");
    return;
  }
  // The rows around the shown time, in the scroll bar of the Inspector.
  constexpr std::size_t few = 13;
  const std::size_t count = history.rows.size();
  const std::pair part = history.rows_around(inspector.history_of == answer.value ? 0 : few);
  const std::size_t first = part.first, last = part.second;
  dim_text(title_of_history(last - first, count));
  if (last - first < count) {
    ImGui::SameLine();
    if (text_link("Show all")) inspector.history_of = answer.value;
  }
  if (!ImGui::BeginTable("history", 3, ImGuiTableFlags_RowBg)) return;
  ImGui::TableSetupColumn("when", ImGuiTableColumnFlags_WidthFixed, look.px(84));
  ImGui::TableSetupColumn("size", ImGuiTableColumnFlags_WidthFixed, look.px(64));
  ImGui::TableSetupColumn("code", ImGuiTableColumnFlags_WidthStretch, 1);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(last - first), look.px(22));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const HistoryLine line = history_line(*answer.value, first + static_cast<std::size_t>(i));
      ImGui::TableNextRow(0, look.px(22));
      ImGui::TableNextColumn();
      ImGui::PushID(i);
      if (ImGui::Selectable(line.when.c_str(), line.is_now, ImGuiSelectableFlags_SpanAllColumns))
        commands.push(command::set_moment, {*answer.value->moment->trace, answer.value->heap.stream, line.event + 1});
      ImGui::PopID();
      tooltip(line.exact + "\nClick to go to the time of its allocation.");
      ImGui::TableNextColumn();
      right_text(line.size);
      ImGui::TableNextColumn();
      line.is_now ? text(line.code) : dim_text(line.code);
    }
  ImGui::EndTable();
}

}  // namespace

bool draw_span_inspector(const AppState& state, InspectorState& inspector, CommandQueue& commands) {
  if (!state.position().address || !state.source() || !state.source()->trace) return false;
  commands.ask(Question::address);
  const auto& map = state.answers().heap_map.value;
  if (!map) return true;
  const HeapSpan* span = map->spans.find(*state.position().address);
  if (span == nullptr) {
    bold_text(address_text(*state.position().address));
    wrapped_text("There is no memory of this heap " + phrase_of(*map->moment, map->heap) + ".", true);
    if (ImGui::Button("Clear selection")) commands.push(CommandId::clear_selection);
    return true;
  }
  const Look look(state);
  const AddressAnswer* address = state.answers().address.value.get();
  const SpanDetail detail =
      detail_of_span(*map, *span, address, labels_of_stream(state, *map->moment->trace, map->heap.stream));
  draw_title(detail, address, span->kind == SpanKind::block, commands);
  // The stack comes before the neighbours.
  SpanDetail before = detail, after = detail;
  before.sections.pop_back();
  after.sections.erase(after.sections.begin(), after.sections.end() - 1);
  draw_sections(look, *map, before, commands);
  draw_layout(state, inspector, detail, commands);
  draw_stack(state, inspector, detail, commands);
  draw_sections(look, *map, after, commands);
  draw_cell(state, *map, *span, commands);
  draw_history(state, inspector, look, commands);
  return true;
}

}  // namespace hbmscope::gui
