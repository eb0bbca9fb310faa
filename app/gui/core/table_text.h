// A table as text: tab-separated with exact numbers for spreadsheets and scripts, or aligned columns for people. Every
// view can be copied both ways, which also makes it accessible to screen readers.
#pragma once

#include <string>
#include <vector>

namespace hbmscope::gui {

struct TableColumn {
  std::string title;
  bool right = false;  // Right-aligned, for numbers.
};

struct TableCell {
  std::string shown;  // "2.10 GiB"
  std::string exact;  // "2254857830". Empty means the same as `shown`. Minus signs are ASCII here.
};

struct TextTable {
  std::string head;  // One or two sentences above the table; may be empty.
  std::vector<TableColumn> columns;
  std::vector<std::vector<TableCell>> rows;
};

std::string csv_from_table(const TextTable& table);  // RFC 4180, with exact numbers.
std::string tsv_from_table(const TextTable& table);
std::string text_from_table(const TextTable& table);

}  // namespace hbmscope::gui
