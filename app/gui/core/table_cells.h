// Cells of a text table: the shown text, and the exact number for spreadsheets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/units/format.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

inline TableCell text_cell(std::string_view text) {
  return {std::string(text), {}};
}
template <std::integral Number>
TableCell bytes_cell(Number bytes) {
  return {text_from_bytes(bytes), std::to_string(bytes)};
}
template <std::integral Number>
TableCell count_cell(Number count) {
  return {text_from_count(count), std::to_string(count)};
}
inline TableCell share_cell(std::int64_t part, std::int64_t whole) {
  return text_cell(text_from_share(part, whole));
}

}  // namespace hbmscope::gui
