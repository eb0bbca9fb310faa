#include "analysis/document/csv.h"

#include <vector>

#include <fmt/format.h>

#include "analysis/units/csv_text.h"

namespace hbmscope {

std::string csv_from_table(const Table& table) {
  std::vector<std::size_t> places, others;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].unit == Unit::code)
      places.push_back(i);
    else if (!table.columns[i].key.empty())
      others.push_back(i);
  if (places.empty() && others.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < places.size(); ++i) text += "name,file,line,";
  for (const std::size_t i : others) {
    const Column& column = table.columns[i];
    text += (column.within.empty() ? "" : std::string(column.within) + "_") + std::string(column.key) + ",";
  }
  text.pop_back();
  text += "\r\n";
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    std::string line;
    for (const std::size_t i : places) {
      const Value value = table.rows.cell(row, i);
      const auto* place = std::get_if<CodeSite>(&value);
      const CodeSite site = place != nullptr ? *place : CodeSite{};
      line += csv_text(site.function) + "," + csv_text(site.file) + "," +
              (site.line == 0 ? "" : std::to_string(site.line)) + ",";
    }
    for (const std::size_t i : others) {
      const Unit unit = table.columns[i].unit;
      const std::string cell = number_text_from_value(table.rows.cell(row, i), unit);
      line += (is_number(unit) ? cell : csv_text(cell)) + ",";
    }
    line.pop_back();
    text += line + "\r\n";
  }
  return text;
}

std::string figures_from_table(const Table& table, char separator) {
  const auto one_cell = [separator](std::string cell) {
    if (separator == ',') return csv_text(cell, CsvReader::program);
    for (char& character : cell)  // These would split the cell.
      if (character == '\t' || character == '\n' || character == '\r') character = ' ';
    return cell;
  };
  std::string text;
  const auto add_line = [&](const auto& cell_of, const auto& where_of) {
    std::string line;
    const auto add = [&](const std::string& cell) { line += one_cell(cell) + separator; };
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].title.empty()) continue;
      add(cell_of(i));
      if (table.columns[i].unit == Unit::code) add(where_of(i));
    }
    if (!line.empty()) line.pop_back();
    text += line + (separator == ',' ? "\r\n" : "\n");
  };
  add_line([&](std::size_t i) { return std::string(table.columns[i].title); },
           [](std::size_t) { return std::string("Where"); });
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto site_of = [&](std::size_t i) {
      const Value value = table.rows.cell(row, i);
      const auto* site = std::get_if<CodeSite>(&value);
      return site != nullptr ? *site : CodeSite{};
    };
    add_line(
        [&](std::size_t i) {
          const CodeSite site = site_of(i);
          return !site.function.empty() ? site.function
                                        : number_text_from_value(table.rows.cell(row, i), table.columns[i].unit);
        },
        [&](std::size_t i) {
          const CodeSite site = site_of(i);
          return site.line > 0 ? fmt::format("{}:{}", site.file, site.line) : site.file;
        });
  }
  return text;
}

}  // namespace hbmscope
