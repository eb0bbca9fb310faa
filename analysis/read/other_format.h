// Files that people open by mistake, recognised by their beginning: named in the error instead of "byte 3: bad field".
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hbmscope {

// "a zip archive", "JSON", "plain text", ...; empty where nothing fits.
std::string_view find_other_format(std::span<const std::uint8_t> bytes);

}  // namespace hbmscope
