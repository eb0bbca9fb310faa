// A text as bytes for a reader.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace hbmscope {

inline std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace hbmscope
