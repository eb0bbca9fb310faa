// Recognises files that users open by mistake, by their beginning, so that the error names the format instead of "byte
// 3: bad field".
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hbmscope {

// "a zip archive", "JSON", "plain text", ...; empty if none matches.
std::string_view find_other_format(std::span<const std::uint8_t> bytes);

}  // namespace hbmscope
