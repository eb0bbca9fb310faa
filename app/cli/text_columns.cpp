#include "app/cli/text_columns.h"

#include <algorithm>

namespace hbmscope::cli {

std::string text_from_columns(const std::vector<TextColumn>& columns, const std::vector<std::vector<std::string>>& rows,
                              const Terminal& terminal, Ink titles_ink) {
  std::vector<std::size_t> widths(columns.size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < columns.size(); ++c) widths[c] = std::max(widths[c], display_width(row[c]));
  std::string text;
  const auto add_line = [&](const auto& cell, Ink ink) {
    std::string line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (widths[c] == 0) continue;
      const std::size_t width = std::max(widths[c], columns[c].title.size());
      line +=
          (line.empty() ? "" : "  ") + (columns[c].is_number ? pad_left(cell(c), width) : pad_right(cell(c), width));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += terminal.paint(line, ink) + "\n";
  };
  add_line([&](std::size_t c) { return std::string(columns[c].title); }, titles_ink);
  for (const auto& row : rows) add_line([&](std::size_t c) { return row[c]; }, Ink::plain);
  return text;
}

}  // namespace hbmscope::cli
