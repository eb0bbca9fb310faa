// A heap's addresses over time: what lay where from when to when. It shows the stretch that the timeline shows; a click
// goes to that moment and selects what lay there.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/map_texture.h"

namespace hbmscope::gui {

struct AddressTimeState {
  MapTexture texture;
  std::shared_ptr<const AddressTime> drawn;  // What is in the texture,
  Theme theme = Theme::dark;                 // in these colours.
  std::uint64_t copy_seen = 0, zoom_seen = 0;
};

void draw_address_time(const AppState& state, AddressTimeState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
