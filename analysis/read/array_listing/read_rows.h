// Tab-separated rows below a header line that names the columns.
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
  std::uint64_t offset = 0;  // The offset of its first byte.
};

// The next non-empty line without its line end; advances `offset` and `line` past it. Nothing at the end.
std::optional<TextRow> next_row(std::string_view text, std::size_t& offset, std::uint64_t& line);
// The index of a column; nothing if there is none.
std::optional<std::size_t> find_column(const std::vector<std::string>& head, std::string_view name);

}  // namespace hbmscope
