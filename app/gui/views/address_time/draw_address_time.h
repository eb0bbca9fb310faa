// The addresses of a heap over time: where each block was, from its allocation to its release. It shows the span of the
// timeline; a click goes to that time and selects what was there.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/map_texture.h"

namespace hbmscope::gui {

struct AddressTimeState {
  MapTexture texture;
  std::shared_ptr<const AddressTime> drawn;  // Is in the texture,
  Theme theme = Theme::dark;                 // in these colours.
  std::uint64_t copy_seen = 0, zoom_seen = 0;
};

void draw_address_time(const AppState& state, AddressTimeState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
