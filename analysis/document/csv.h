// A table of a document as comma-separated values: for programs, and for a spreadsheet.
#pragma once

#include <string>

#include "analysis/document/document.h"

namespace hbmscope {

// By RFC 4180, with the keys as titles and exact numbers. A place becomes the columns name, file and line.
std::string csv_from_table(const Table& table);
// What the window shows, for a spreadsheet: the columns with their titles and exact numbers, separated by a comma (by
// RFC 4180) or by a tab. A place is its function and, in a column of its own, where it is.
std::string figures_from_table(const Table& table, char separator);

}  // namespace hbmscope
