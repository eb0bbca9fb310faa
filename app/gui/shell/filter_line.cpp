#include "app/gui/shell/filter_line.h"

#include <algorithm>
#include <array>

#include <imgui.h>

#include "app/gui/core/answers.h"
#include "app/gui/core/block_table.h"
#include "app/gui/core/filter_text.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/icons.h"
#include "app/gui/look/text_field.h"

namespace hbmscope::gui {
namespace {

void draw_language_help(const Source& source) {
  if (!ImGui::BeginTooltip()) return;
  bold_text(source.trace ? "size>1GiB age>10s stack:adam -file:site-packages (category:activations or tag:opt)"
                         : "size>1GiB stack:adam device:0 -file:site-packages (kind:buffer or kind:executable)");
  if (source.trace) text("0x7f3a14000000   +12.3GiB   512MiB: the block there, or blocks of that size");
  dim_text("All terms must match. : contains, = equals, /.../ is a regular expression, - negates.");
  for (const WhereField& field : filter_fields(source)) {
    if (!field.unavailable.empty()) continue;
    text(field.name);
    ImGui::SameLine(ImGui::GetFontSize() * 6);
    dim_text(field.help);
  }
  ImGui::EndTooltip();
}

// Completions of what is being typed, and earlier filters.
void offer(const AppState& state, const Source& source, FilterLineState& line, ImVec2 below, float width,
           CommandQueue& commands) {
  FilterOffersState& list = line.offers;
  if (!follow_filter_text(list, line.where)) return;
  commands.ask(Question::filter_values);
  const auto& values = state.answers().filter_values;
  static const FilterValues none;
  const bool is_known = values.value && values.state == AnswerState::ready;
  if (!list.is_clicked)
    list.offers = find_filter_offers(line.where, list.cursor, filter_fields(source), is_known ? *values.value : none,
                                     state.filters);
  if (list.chosen && *list.chosen >= list.offers.size()) list.chosen.reset();
  const auto clicked = draw_filter_offers(Look(state), list, below, width);
  if (!clicked) return;
  if (clicked->is_complete) {
    line.where = line.where_seen = clicked->text;
    line.error.clear();
    commands.push(command::set_filter, clicked->text);
  } else {
    list.taken = clicked;  // Put in once the field has the keyboard again.
    line.wants_keyboard = true;
  }
}

// At the right end of the field, behind what is typed.
void draw_hint_of_enter(const FilterLineState& line) {
  constexpr const char* hint = "Enter applies it";
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax(), padding = ImGui::GetStyle().FramePadding;
  const float x = to.x - padding.x - ImGui::CalcTextSize(hint).x;
  if (x < from.x + ImGui::CalcTextSize(line.where.c_str()).x + 3 * padding.x) return;
  ImGui::GetWindowDrawList()->AddText({x, from.y + padding.y}, ImGui::GetColorU32(ImGuiCol_TextDisabled), hint);
}

// After Enter the next word goes into the field too, and not to the keys of the views.
void keep_keyboard(FilterLineState& line) {
  line.wants_keyboard = true;
  line.offers.is_closed = true;
  line.offers.taken = FilterOffer{{}, {}, {}, line.where, line.where.size(), true};
}

void draw_where(const AppState& state, const Source& source, FilterLineState& line, float width,
                CommandQueue& commands) {
  const std::string& where = state.position().request.where;
  // Changed elsewhere, e.g. by a click on a device or Alt+Left; or the file did, or became known.
  if (line.where_seen != where || line.judged_for != source.id || line.judged_as_trace != (source.trace != nullptr)) {
    line.where = line.where_seen = where;
    line.judged_for = source.id;
    line.judged_as_trace = source.trace != nullptr;
    line.error = why_no_filter(source, line.where);
  }
  const bool wrong = !line.error.empty() && !line.offers.is_open();  // Otherwise it is not complete yet.
  if (wrong) {
    ImGui::PushStyleColor(ImGuiCol_Border, Look(state).vec(Role::failure));
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 2.0F);
  }
  if (line.filter_seen != state.window.filter_serial || line.wants_keyboard) {
    line.filter_seen = state.window.filter_serial;
    line.wants_keyboard = false;
    ImGui::SetKeyboardFocusHere();
  }
  ImGui::SetNextItemWidth(width);
  const char* const hint = source.trace ? "Filter: size>1GiB age>10s stack:adam, or an address: 0x7f3a14000000"
                                        : "Filter: size>1GiB stack:adam device:0";
  const int flags = begin_filter_offers(line.offers);
  if (text_field("##filter", hint, line.where, flags, events_of_filter_offers(line.offers)))
    line.error = why_no_filter(source, line.where);
  const bool done = ImGui::IsItemDeactivatedAfterEdit() && !line.offers.is_clicked;
  const bool hovered = ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip), active = ImGui::IsItemActive();
  const ImVec2 below{ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y};
  if (wrong) {
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
  }
  if (done && line.error.empty() && line.where != where) commands.push(command::set_filter, line.where);
  if (ImGui::IsItemDeactivated() && (ImGui::IsKeyPressed(ImGuiKey_Enter) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter)))
    keep_keyboard(line);
  if (line.where != where && line.error.empty()) draw_hint_of_enter(line);
  offer(state, source, line, below, width, commands);
  if (wrong && (active || hovered)) {
    ImGui::SetTooltip("%s", line.error.c_str());
  } else if (hovered && !active) {
    draw_language_help(source);
  }
}

void draw_find(const AppState& state, FilterLineState& line, float width, CommandQueue& commands) {
  const std::string& find = state.position().find;
  if (line.find_seen != find) line.find = line.find_seen = find;
  if (line.find_serial_seen != state.window.find_serial) {
    line.find_serial_seen = state.window.find_serial;
    ImGui::SetKeyboardFocusHere();
  }
  ImGui::SetNextItemWidth(width);
  text_field("##find", "Find a function or file", line.find);
  if (ImGui::IsItemDeactivatedAfterEdit() && line.find != find) commands.push(command::set_find, line.find);
  tooltip("Highlights frames in the pictures and narrows the tables. Press Enter, then F3 for the next.");
}

// How many blocks pass the filter, and steps from one to the next.
void draw_hits(const AppState& state, float width, CommandQueue& commands) {
  const float begin = ImGui::GetCursorPosX();
  if (!state.position().request.where.empty()) {
    commands.ask(Question::blocks);
    const auto& answer = state.answers().blocks;
    const bool has_hits = answer.value && answer.state == AnswerState::ready && !answer.value->list.rows.empty();
    ImGui::BeginDisabled(!has_hits);
    if (ImGui::ArrowButton("previous hit", ImGuiDir_Left)) commands.push(CommandId::find_previous);
    tooltip("Previous block that passes the filter (Shift+F3)");
    ImGui::SameLine();
    if (ImGui::ArrowButton("next hit", ImGuiDir_Right)) commands.push(CommandId::find_next);
    tooltip("Next block that passes the filter (F3)");
    ImGui::EndDisabled();
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    const std::string words = answer.failed()                   ? answer.error.what
                              : !answer.value                   ? "Searching ..."
                              : answer.value->list.rows.empty() ? "No block matches."
                                                                : blocks_sentence(*answer.value);
    dim_text(shortened(words, begin + width - ImGui::GetCursorPosX()));
    tooltip(words);
    ImGui::SameLine();
  }
  ImGui::SetCursorPosX(begin + width + ImGui::GetStyle().ItemSpacing.x);
}

void draw_by(const AppState& state, CommandQueue& commands) {
  constexpr std::array<FrameBy, 5> choices{FrameBy::function, FrameBy::line, FrameBy::file, FrameBy::package,
                                           FrameBy::address};
  const std::string now = "By " + std::string(text_from_frame_by(state.position().request.by));
  ImGui::SetNextItemWidth(ImGui::GetFontSize() * 7.5F);
  if (!ImGui::BeginCombo("##by", now.c_str())) return tooltip("How frames are grouped in all views");
  for (const FrameBy by : choices) {
    const std::string name(text_from_frame_by(by));
    if (ImGui::Selectable(name.c_str(), by == state.position().request.by)) commands.push(command::set_by, by);
  }
  ImGui::EndCombo();
}

}  // namespace

void draw_filter_line(const AppState& state, FilterLineState& line, CommandQueue& commands) {
  const ImGuiStyle& style = ImGui::GetStyle();
  ImGui::SetCursorPos({style.WindowPadding.x, ImGui::GetCursorPosY() + style.ItemSpacing.y});
  const bool can_go_back = !state.context().back.empty(), can_go_forward = !state.context().forward.empty();
  const auto arrow = [&](const char* id, ImGuiDir direction, bool enabled, CommandId command, const char* help) {
    ImGui::BeginDisabled(!enabled);
    if (ImGui::ArrowButton(id, direction)) commands.push(command);
    ImGui::EndDisabled();
    tooltip(help);
    ImGui::SameLine();
  };
  arrow("back", ImGuiDir_Left, can_go_back, CommandId::back, "Back (Alt+Left)");
  arrow("forward", ImGuiDir_Right, can_go_forward, CommandId::forward, "Forward (Alt+Right)");

  const float fixed = ImGui::GetFontSize() * 7.5F + ImGui::CalcTextSize("BytesCountClear").x +
                      8 * style.FramePadding.x + 6 * style.ItemSpacing.x;
  const float room = std::max(200.0F, ImGui::GetContentRegionAvail().x - fixed - style.WindowPadding.x);
  const Source* source = state.source();
  if (source == nullptr) return ImGui::NewLine();
  draw_where(state, *source, line, room * 0.62F, commands);
  ImGui::SameLine();
  // Blocks are found by the filter; frames of a flame graph or a table of frames, by Find.
  const float rest = room * 0.38F - style.ItemSpacing.x;
  if (source->trace && row_of(state.position().view).needs_addresses) {
    draw_hits(state, rest, commands);
  } else {
    draw_find(state, line, rest, commands);
    ImGui::SameLine();
  }
  const bool filtered = state.position().request != without_filters(state.position().request);
  ImGui::BeginDisabled(!filtered && line.where.empty());
  if (ImGui::Button("Clear")) {
    commands.push(CommandId::clear_filter);
    line.where.clear();
    line.error.clear();
  }
  ImGui::EndDisabled();
  tooltip("Clears the filter");
  ImGui::SameLine();
  draw_by(state, commands);
  ImGui::SameLine();
  const bool bytes = state.position().value == FlameValue::bytes;
  if (ImGui::Button(bytes ? "Bytes" : "Count")) commands.push(CommandId::toggle_value);
  tooltip("Weighs the flame graph by bytes or by count (C)");
  if (state.answers().view.failed()) {
    ImGui::SetCursorPosX(style.WindowPadding.x);
    ImGui::PushStyleColor(ImGuiCol_Text, Look(state).vec(Role::failure));
    const std::string why = why_no_filter(*source, state.position().request.where);
    text(std::string(icon::warning) + "  " + (why.empty() ? state.answers().view.error.text() : why));
    ImGui::PopStyleColor();
    ImGui::SameLine();
    dim_text("The views show the previous filter.");
  }
}

}  // namespace hbmscope::gui
