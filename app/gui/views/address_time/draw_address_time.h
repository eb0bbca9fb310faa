// The addresses of a heap over time: each block from its allocation to its release. It shows the visible span of the
// timeline. A click goes to that time and selects the block or gap at that address.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/map_texture.h"

namespace hbmscope::gui {

struct AddressTimeState {
  MapTexture texture;
  std::shared_ptr<const AddressTime> drawn;  // The texture shows this picture,
  Theme theme = Theme::dark;                 // in these colours.
  std::uint64_t copy_seen = 0, zoom_seen = 0;
};

void draw_address_time(const AppState& state, AddressTimeState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
