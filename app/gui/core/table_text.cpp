#include "app/gui/core/table_text.h"

#include <algorithm>

namespace hbmscope::gui {
namespace {

// The approximate width on the screen: UTF-8 continuation bytes have none.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char character) { return (character & 0xC0) != 0x80; }));
}

// A tab or line break would split the cell.
std::string one_cell(std::string text) {
  for (char& character : text)
    if (character == '\t' || character == '\n' || character == '\r') character = ' ';
  return text;
}

void append_padded(std::string& line, const std::string& text, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  line += right ? blanks + text : text + blanks;
}

void finish_line(std::string& out, std::string line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  out += line + "\n";
}

}  // namespace

std::string tsv_from_table(const TextTable& table) {
  std::string out;
  for (std::size_t i = 0; i < table.columns.size(); ++i) out += (i == 0 ? "" : "\t") + one_cell(table.columns[i].title);
  out += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out += (i == 0 ? "" : "\t") + one_cell(row[i].exact.empty() ? row[i].shown : row[i].exact);
    out += "\n";
  }
  return out;
}

std::string csv_from_table(const TextTable& table) {
  const auto quoted = [](const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char character : text) out += character == '"' ? std::string("\"\"") : std::string(1, character);
    return out + "\"";
  };
  std::string out;
  for (std::size_t i = 0; i < table.columns.size(); ++i) out += (i == 0 ? "" : ",") + quoted(table.columns[i].title);
  out += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out += (i == 0 ? "" : ",") + quoted(row[i].exact.empty() ? row[i].shown : row[i].exact);
    out += "\r\n";
  }
  return out;
}

std::string text_from_table(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (const TableColumn& column : table.columns) widths.push_back(width_of(column.title));
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i)
      widths[i] = std::max(widths[i], width_of(row[i].shown));

  std::string out = table.head.empty() ? "" : table.head + "\n\n";
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) line += "  ";
    append_padded(line, table.columns[i].title, widths[i], table.columns[i].right);
  }
  finish_line(out, std::move(line));
  for (const auto& row : table.rows) {
    line.clear();
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      if (i > 0) line += "  ";
      append_padded(line, one_cell(row[i].shown), widths[i], table.columns[i].right);
    }
    finish_line(out, std::move(line));
  }
  return out;
}

}  // namespace hbmscope::gui
