// Rows of cells between tabs under a head line that names the columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hbmscope {

struct TextRow {
  std::vector<std::string> cells;
  std::uint64_t line = 0;    // From 1.
  std::uint64_t offset = 0;  // Of its first byte.
};

// The next line that is not empty, its end taken off; `offset` and `line` are moved behind it. Nothing: the end.
std::optional<TextRow> next_row(std::string_view text, std::size_t& offset, std::uint64_t& line);
// Which column has what; nothing: there is none.
std::optional<std::size_t> find_column(const std::vector<std::string>& head, std::string_view name);

}  // namespace hbmscope
