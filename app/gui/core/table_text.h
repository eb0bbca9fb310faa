// A table as text: with tabs and exact numbers for spreadsheets and scripts, or aligned as it is shown for people.
// Every view can be copied both ways; for a screen reader this is the way in.
#pragma once

#include <string>
#include <vector>

namespace hbmscope::gui {

struct TableColumn {
  std::string title;
  bool right = false;  // Numbers are aligned to the right.
};

struct TableCell {
  std::string shown;  // "2.10 GiB"
  std::string exact;  // "2254857830"; empty: as shown. Minus signs are ASCII here.
};

struct TextTable {
  std::string head;  // A sentence or two above the table; may be empty.
  std::vector<TableColumn> columns;
  std::vector<std::vector<TableCell>> rows;
};

std::string csv_from_table(const TextTable& table);  // RFC 4180, with exact numbers.
std::string tsv_from_table(const TextTable& table);
std::string text_from_table(const TextTable& table);

}  // namespace hbmscope::gui
