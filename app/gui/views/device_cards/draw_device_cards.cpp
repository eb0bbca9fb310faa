#include "app/gui/views/device_cards/draw_device_cards.h"

#include <algorithm>
#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/theme.h"
#include "app/gui/views/device_cards/device_cards.h"

namespace hbmscope::gui {
namespace {

constexpr std::size_t cards_max = 16;

std::string words_of(const DeviceCard& card) {
  std::string words = card.name + "\nin use " + text_from_bytes(card.in_use_bytes) + ", at its peak " +
                      text_from_bytes(card.peak_bytes);
  if (card.pool_bytes && card.free_bytes)
    words += "\npool " + text_from_bytes(*card.pool_bytes) + ", free in it " + text_from_bytes(*card.free_bytes) +
             ", largest free block " + text_from_bytes(card.largest_free_bytes.value_or(0));
  words += card.device_bytes ? "\nThe full width of the bar is the device, " + text_from_bytes(*card.device_bytes) +
                                   "; the lighter part is free in the pool."
           : card.pool_bytes ? "\nThe full width of the bar is the pool: the size of the device is unknown."
                             : "\nThe source does not report the pool. The full width of the bar is the highest peak.";
  if (card.failures > 0)
    words += "\n! " + text_from_count(card.failures) + (card.failures == 1 ? " request" : " requests") + " failed";
  return words;
}

// "6.38 GiB, peak 8.38 GiB", shortened to the width.
std::string figure_of(const DeviceCard& card, float width) {
  const TextPair sizes =
      texts_from_bytes(static_cast<std::int64_t>(card.in_use_bytes), static_cast<std::int64_t>(card.peak_bytes));
  const std::string both = sizes.first + ", peak " + sizes.second;
  return ImGui::CalcTextSize(both.c_str()).x <= width ? both : sizes.first;
}

// How a card is drawn.
struct CardStyle {
  ImVec2 size;
  bool is_one_line = false;  // In a low window: the figure stands behind the name.
};

// The box of a card, with the outline of what is shown: all devices, or one. Beside all of them, the one that the heap
// map shows has a dim outline.
enum class Shown : std::uint8_t { no, yes, in_the_heap_map };
void draw_box(const Look& look, ImVec2 from, ImVec2 to, Shown shown) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImGuiCol fill = ImGui::IsItemHovered() ? ImGuiCol_FrameBgHovered : ImGuiCol_FrameBg;
  draw.AddRectFilled(from, to, ImGui::GetColorU32(fill), look.px(3));
  if (shown == Shown::no) return;
  const bool is_dim = shown == Shown::in_the_heap_map;
  draw.AddRect(from, to, look.role(is_dim ? Role::dim_text : Role::text), look.px(3), look.px(is_dim ? 1 : 2));
}

// A name, and a figure below or behind it.
void draw_card_words(const Look& look, const CardStyle& style, ImVec2 from, const std::string& name,
                     const std::string& figure, float behind) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float pad = look.px(6), line = ImGui::GetTextLineHeight(), width = style.size.x - 2 * pad;
  const ImU32 dim = ImGui::GetColorU32(ImGuiCol_TextDisabled);
  float figure_width = 0;
  if (style.is_one_line) {
    const float room = width - behind - ImGui::CalcTextSize(name.c_str()).x - look.px(6);
    const std::string shown = ImGui::CalcTextSize(figure.c_str()).x <= room ? figure : "";
    figure_width = ImGui::CalcTextSize(shown.c_str()).x;
    draw.AddText({from.x + pad + width - behind - figure_width, from.y + look.px(3)}, dim, shown.c_str());
  } else {
    draw.AddText({from.x + pad, from.y + look.px(13) + line}, dim, shortened(figure, width).c_str());
  }
  draw.AddText({from.x + pad, from.y + look.px(3)}, look.role(Role::text),
               shortened(name, width - behind - figure_width, true).c_str());
}

void draw_card(const Look& look, const DeviceCard& card, Shown shown, const CardStyle& style, CommandQueue& commands) {
  const ImVec2 from = ImGui::GetCursorScreenPos(), to{from.x + style.size.x, from.y + style.size.y};
  if (ImGui::InvisibleButton("card", style.size)) commands.push(command::choose_heap, card.heap);
  draw_box(look, from, to, shown);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float pad = look.px(6), line = ImGui::GetTextLineHeight();
  const float flag = card.failures > 0 ? ImGui::CalcTextSize("!").x : 0;
  draw_card_words(look, style, from, card.name,
                  style.is_one_line ? text_from_bytes(card.in_use_bytes) : figure_of(card, style.size.x - 2 * pad),
                  flag > 0 ? flag + look.px(4) : 0);
  if (flag > 0) draw.AddText({to.x - pad - flag, from.y + look.px(3)}, look.role(Role::failure), "!");
  const float bar = from.y + look.px(5) + line;
  draw_pool_bar(draw, look, {from.x + pad, bar}, {to.x - pad, bar + look.px(6)}, card.in_use_bytes,
                card.device_bytes ? card.pool_bytes.value_or(0) : 0, card.whole_bytes);
  tooltip(words_of(card));
}

// All devices together; the heap map still shows one heap.
void draw_all(const Look& look, const std::vector<DeviceCard>& cards, bool is_shown, const CardStyle& style,
              CommandQueue& commands) {
  const ImVec2 from = ImGui::GetCursorScreenPos(), to{from.x + style.size.x, from.y + style.size.y};
  if (ImGui::InvisibleButton("all devices", style.size)) commands.push(CommandId::toggle_all_devices);
  draw_box(look, from, to, is_shown ? Shown::yes : Shown::no);
  std::uint64_t in_use = 0;
  for (const DeviceCard& card : cards) in_use += card.in_use_bytes;
  const std::string figure = text_from_bytes(in_use);
  const bool has_figure = style.is_one_line || style.size.y > 2 * ImGui::GetTextLineHeight();
  draw_card_words(look, style, from, "all devices",
                  !has_figure         ? ""
                  : style.is_one_line ? figure
                                      : figure + " in use",
                  0);
  tooltip("Tables and graphs are about all " + text_from_count(cards.size()) + " together: " + figure +
          " in use, and the timeline has a row for each. The heap map shows one heap.");
}

// With sixteen or more devices: one cell each, filled from the bottom, with a mark if a request failed.
void draw_cell(const Look& look, const DeviceCard& card, Shown shown, const CardStyle& style, CommandQueue& commands) {
  const ImVec2 size = style.size;
  const ImVec2 from = ImGui::GetCursorScreenPos(), to{from.x + size.x, from.y + size.y};
  if (ImGui::InvisibleButton("card", size)) commands.push(command::choose_heap, card.heap);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(from, to, look.role(Role::free));
  const double share =
      static_cast<double>(card.in_use_bytes) / static_cast<double>(std::max<std::uint64_t>(1, card.whole_bytes));
  const float height = static_cast<float>(share) * size.y;
  draw.AddRectFilled({from.x, to.y - height}, to, look.role(Role::parameters));
  if (card.failures > 0) draw.AddRectFilled(from, {to.x, from.y + look.px(4)}, look.role(Role::failure));
  if (shown != Shown::no || ImGui::IsItemHovered()) draw.AddRect(from, to, look.role(Role::text), 0, look.px(2));
  tooltip(words_of(card));
}

}  // namespace

void draw_device_cards(const AppState& state, CommandQueue& commands) {
  const Source* source = state.source();
  const auto moment = drawn_moment(state);
  if (source == nullptr || !source->trace || !moment || source->devices.size() < 2) return;
  if (!source->is_source_of(*moment)) return;
  const std::vector<DeviceCard> cards = find_device_cards(source->devices, *moment);
  if (cards.empty()) return;
  const Look look(state);
  const HeapKey shown = choose_heap(*moment->trace, state.position().heap);
  const auto is_of = [&](const DeviceCard& card) {
    const std::vector<DeviceHeap>& heaps = source->devices[card.device].heaps;
    return std::any_of(heaps.begin(), heaps.end(), [&](const DeviceHeap& heap) { return heap.key == shown; });
  };
  const float gap = look.px(4), pad = ImGui::GetStyle().WindowPadding.x;
  const auto count = static_cast<float>(cards.size() + 1);
  const float room = ImGui::GetContentRegionAvail().x - 2 * pad - (count - 1) * gap;
  const bool as_cells = cards.size() > cards_max || room / count < ImGui::GetFontSize() * 5;
  const bool is_one_line = !as_cells && is_low_window();
  const float line = ImGui::GetTextLineHeight();
  const CardStyle style{
      {as_cells ? std::clamp(room / count, look.px(6), look.px(24)) : std::min(room / count, look.px(220)),
       as_cells      ? look.px(30)
       : is_one_line ? line + look.px(14)
                     : 2 * line + look.px(16)},
      is_one_line};
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + pad);
  const bool shows_all = state.position().all_devices;
  CardStyle style_of_all = style;
  if (as_cells) style_of_all.size.x = look.px(60);
  draw_all(look, cards, shows_all, style_of_all, commands);
  for (std::size_t i = 0; i < cards.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    ImGui::SameLine(0, gap);
    const Shown is_shown = !is_of(cards[i]) ? Shown::no : shows_all ? Shown::in_the_heap_map : Shown::yes;
    (as_cells ? draw_cell : draw_card)(look, cards[i], is_shown, style, commands);
    ImGui::PopID();
  }
}

}  // namespace hbmscope::gui
