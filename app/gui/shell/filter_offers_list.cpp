#include "app/gui/shell/filter_offers_list.h"

#include <algorithm>

#include <imgui_internal.h>  // Owners of keys and the order of windows have no public API yet.

#include "analysis/units/format.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
namespace {

constexpr std::size_t rows_max = 10;

// The field does not get the key in this frame.
bool take_key(ImGuiKey key) {
  if (!ImGui::IsKeyPressed(key, false)) return false;
  ImGui::SetKeyOwner(key, ImGui::GetID("offers"), ImGuiInputFlags_LockThisFrame);
  return true;
}

void choose_next(FilterOffersState& list, bool down) {
  const std::size_t count = list.offers.size();
  if (list.is_closed || count == 0) {
    list.is_closed = false;
    return;
  }
  const std::size_t first = down ? 0 : count - 1;
  list.chosen = !list.chosen ? first : (*list.chosen + (down ? 1 : count - 1)) % count;
  list.has_moved = true;
}

void put(FilterOffersState& list, ImGuiInputTextCallbackData& field) {
  const FilterOffer offer = std::move(*list.taken);
  list.taken.reset();
  field.DeleteChars(0, field.BufTextLen);
  field.InsertChars(0, offer.text.c_str());
  field.CursorPos = static_cast<int>(offer.cursor);
  field.ClearSelection();
  list.text = offer.text;
  list.cursor = offer.cursor;
  list.chosen.reset();
  list.offers.clear();
}

}  // namespace

int begin_filter_offers(FilterOffersState& list) {
  list.is_clicked = false;
  constexpr int flags = ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_CallbackHistory;
  if (!list.is_open()) return flags;
  list.is_clicked =
      ImGui::IsMouseClicked(ImGuiMouseButton_Left) && ImGui::IsMouseHoveringRect(list.from, list.to, false);
  if (take_key(ImGuiKey_Escape)) list.is_closed = true;
  if (!list.chosen) return flags | ImGuiInputTextFlags_CallbackCompletion;
  const FilterOffer& chosen = list.offers[*list.chosen];
  // With a whole filter, the field gets Enter too and applies it.
  const auto is_taken_by = [&](ImGuiKey key) {
    return chosen.is_complete ? ImGui::IsKeyPressed(key, false) : take_key(key);
  };
  if (is_taken_by(ImGuiKey_Enter) || is_taken_by(ImGuiKey_KeypadEnter)) list.taken = chosen;
  return flags | ImGuiInputTextFlags_CallbackCompletion;
}

TextEvents events_of_filter_offers(FilterOffersState& list) {
  return [&list](ImGuiInputTextCallbackData& field) {
    if (field.EventFlag == ImGuiInputTextFlags_CallbackHistory) choose_next(list, field.EventKey == ImGuiKey_DownArrow);
    if (field.EventFlag == ImGuiInputTextFlags_CallbackCompletion && list.is_open())
      list.taken = list.offers[list.chosen.value_or(0)];
    if (list.taken) {
      list.is_closed = list.taken->is_last();
      put(list, field);
    }
    const auto cursor = static_cast<std::size_t>(field.CursorPos);
    if (list.cursor != cursor) list.chosen.reset();
    list.cursor = cursor;
  };
}

bool follow_filter_text(FilterOffersState& list, const std::string& text) {
  const bool is_active = ImGui::IsItemActive();
  if (!is_active && !list.is_clicked && !list.taken) {
    list.is_closed = true;
    return false;
  }
  if (ImGui::IsItemActivated()) {
    // A filter that is there already is to be read or replaced first.
    if (list.text != text || text.empty()) list.is_closed = !text.empty();
    list.text = text;
  }
  if (list.text != text) {
    list.text = text;
    list.chosen.reset();
    list.is_closed = false;
  }
  return true;
}

std::optional<FilterOffer> draw_filter_offers(const Look& look, FilterOffersState& list, ImVec2 below, float width) {
  if (!list.is_open()) return std::nullopt;
  const ImGuiStyle& style = ImGui::GetStyle();
  const float rows = static_cast<float>(std::min(rows_max, list.offers.size()));
  const float height = rows * ImGui::GetTextLineHeightWithSpacing() - style.ItemSpacing.y + 2 * style.WindowPadding.y;
  ImGui::SetNextWindowPos(below);
  // With large text, texts need more than the field has.
  const float most = ImGui::GetMainViewport()->WorkPos.x + ImGui::GetMainViewport()->WorkSize.x - below.x;
  ImGui::SetNextWindowSize({std::min(most, std::clamp(width, look.px(480), look.px(640))), height});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, style.Colors[ImGuiCol_PopupBg]);
  constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings |
                                     ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav;
  std::optional<FilterOffer> clicked;
  ImGui::Begin("Offers", nullptr, flags);
  ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
  list.from = ImGui::GetWindowPos();
  list.to = {list.from.x + ImGui::GetWindowWidth(), list.from.y + ImGui::GetWindowHeight()};
  for (std::size_t i = 0; i < list.offers.size(); ++i) {
    const FilterOffer& offer = list.offers[i];
    ImGui::PushID(static_cast<int>(i));
    ImGui::Selectable("##offer", list.chosen == i);
    if (list.is_clicked && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem)) clicked = offer;
    if (list.chosen == i && list.has_moved) ImGui::SetScrollHereY();
    ImGui::SameLine(style.WindowPadding.x);
    const std::string right = offer.bytes ? text_from_bytes(*offer.bytes) : offer.help;
    const float column = ImGui::GetFontSize() * 7;
    const float room = offer.bytes ? ImGui::CalcTextSize(right.c_str()).x + style.ItemSpacing.x : 0;
    text(shortened(offer.title, ImGui::GetContentRegionAvail().x - room));
    if (offer.bytes) {
      ImGui::SameLine();
      right_text(right, true);
    } else if (!right.empty()) {
      ImGui::SameLine(column);
      dim_text(shortened(right, ImGui::GetContentRegionAvail().x));
    }
    ImGui::PopID();
  }
  list.has_moved = false;
  ImGui::End();
  ImGui::PopStyleColor();
  return clicked;
}

}  // namespace hbmscope::gui
