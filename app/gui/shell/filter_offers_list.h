// The list under the filter's field while someone types: what core/filter_offers.h offers. The field keeps the
// keyboard. The arrows choose, Tab and Enter take, Escape closes the list. Enter without a choice applies what was
// typed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <imgui.h>

#include "app/gui/core/filter_offers.h"
#include "app/gui/look/text_field.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {

struct FilterOffersState {
  std::vector<FilterOffer> offers;  // As drawn last.
  std::optional<std::size_t> chosen;
  bool has_moved = false;            // By an arrow key, since the list was drawn.
  bool is_closed = true;             // By the user, or because nothing was typed yet.
  bool is_clicked = false;           // In this frame.
  std::optional<FilterOffer> taken;  // Not in the field yet.
  std::string text;                  // The field's text, for which there are offers,
  std::size_t cursor = 0;            // and its cursor.
  ImVec2 from, to;                   // The corners of the list.

  bool is_open() const { return !is_closed && !offers.empty(); }
};

// Before the field: takes the keys that are meant for the list. ImGui's flags for the field.
int begin_filter_offers(FilterOffersState& list);
TextEvents events_of_filter_offers(FilterOffersState& list);
// After the field, with its text. False if nothing is to be offered.
bool follow_filter_text(FilterOffersState& list, const std::string& text);
// Below the field. Returns what was clicked.
std::optional<FilterOffer> draw_filter_offers(const Look& look, FilterOffersState& list, ImVec2 below, float width);

}  // namespace hbmscope::gui
