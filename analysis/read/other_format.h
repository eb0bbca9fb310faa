// Recognises files that people open by mistake, by their content, so that the error names the format instead of "byte
// 3: bad field", and says what of the same job opens instead.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hbmscope {

struct OtherFormat {
  std::string_view name;     // "a zip archive", "JSON", "plain text". Empty if none matches.
  std::string_view instead;  // What to open instead, one sentence or two. Empty if it depends on what is inside.
  bool is_sure = false;      // Not for text, JSON and XML, which have many formats: there a name's ending says more.
};

// From the beginning of a file, without compression; 512 bytes or more find everything.
OtherFormat find_other_format(std::span<const std::uint8_t> bytes);

}  // namespace hbmscope
