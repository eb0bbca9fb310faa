// Parses a place in memory that a user typed on the command line or in the palette.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/gui/core/commands.h"

namespace hbmscope::gui {

std::optional<std::uint64_t> parse_address(std::string_view text);  // "0x7f3a14000000", with or without the 0x.

// An address, optionally with its heap: "1:2/0x7f3a14000000".
std::optional<PlaceToSelect> parse_place(std::string_view text);

// "0x7f3a14000000-0x7f3a18000000"; the end is not part of it.
std::optional<AddressRange> parse_addresses(std::string_view text);
std::string text_from_addresses(AddressRange range);

}  // namespace hbmscope::gui
