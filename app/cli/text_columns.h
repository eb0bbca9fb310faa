// A table with aligned columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/terminal.h"

namespace hbmscope::cli {

struct TextColumn {
  std::string_view title;
  bool is_number = false;  // Numbers are aligned at their ends, texts at their beginnings.
};

// A line of titles in `titles_ink`, then one line for each row, whose cells are in the order of the columns. A column
// without any text is left out.
std::string text_from_columns(const std::vector<TextColumn>& columns, const std::vector<std::vector<std::string>>& rows,
                              const Terminal& terminal, Ink titles_ink);

}  // namespace hbmscope::cli
