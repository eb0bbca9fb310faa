#include "analysis/read/array_listing/read_rows.h"

#include <algorithm>

namespace hbmscope {
namespace {

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    cells.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

}  // namespace

std::optional<TextRow> next_row(std::string_view text, std::size_t& offset, std::uint64_t& line) {
  while (offset < text.size()) {
    const std::size_t begin = offset, end = std::min(text.find('\n', begin), text.size());
    std::string_view row = text.substr(begin, end - begin);
    offset = end + 1;
    ++line;
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (!row.empty()) return TextRow{cells_of(row), line, begin};
  }
  return std::nullopt;
}

std::optional<std::size_t> find_column(const std::vector<std::string>& head, std::string_view name) {
  const auto found = std::find(head.begin(), head.end(), name);
  if (found == head.end()) return std::nullopt;
  return static_cast<std::size_t>(found - head.begin());
}

}  // namespace hbmscope
