// A place in memory as a person types it, on the command line or in the palette.
#pragma once

#include <optional>
#include <string_view>

#include "app/gui/core/commands.h"

namespace hbmscope::gui {

std::optional<std::uint64_t> parse_address(std::string_view text);  // "0x7f3a14000000", with or without the 0x.

// An address, which may name its heap too: "1:2/0x7f3a14000000".
std::optional<PlaceToSelect> parse_place(std::string_view text);

}  // namespace hbmscope::gui
