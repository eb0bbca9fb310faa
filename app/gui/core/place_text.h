// Parses a place in memory that a user typed on the command line or in the palette.
#pragma once

#include <optional>
#include <string_view>

#include "app/gui/core/commands.h"

namespace hbmscope::gui {

std::optional<std::uint64_t> parse_address(std::string_view text);  // "0x7f3a14000000", with or without the 0x.

// An address, optionally with its heap: "1:2/0x7f3a14000000".
std::optional<PlaceToSelect> parse_place(std::string_view text);

}  // namespace hbmscope::gui
