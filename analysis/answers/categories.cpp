// What the memory is used for, and which arrays hold it.
#include <fmt/format.h>

#include "analysis/answers/answer_table.h"
#include "analysis/answers/top.h"
#include "analysis/query/where.h"
#include "analysis/units/ascii.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

Value category_value(Category category) {
  return category == Category::unknown ? Value() : Value(std::string(text_from_category(category)));
}

std::string hex_of(char c) {
  return fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
}

Result<Document> describe_categories_of(const AnswerInput& input) {
  const auto rows = compute_category_rows(*input.trace, *input.states);
  std::uint64_t all = 0;
  for (const CategoryRow& row : rows) all += row.bytes;
  Document document;
  Table table = describe_categories(rows, {signed_from(all), text_from_bytes(all) + " in use"});
  table.shown = rows.size();
  document.add(std::move(table));
  return document;
}

Result<Document> describe_arrays_of(const AnswerInput& input) {
  Document document;
  document.add(describe_arrays(compute_holder_rows(*input.trace, *input.states)));
  return document;
}

// The filter of the blocks of a row: array="m.e.weight" held="global of train.py"; of "history[*]" a pattern.
std::string term_of_name(const HolderRow& row) {
  std::string term = "array=" + where_quote(row.name);
  if (row.name.find('*') != std::string::npos) {
    term = "array:/^";
    for (const char c : row.name)
      term += c == '*' ? "[0-9]+" : is_letter(c) || is_digit(c) || c == '_' ? std::string(1, c) : hex_of(c);
    term += "$/";
  }
  return row.holder.empty() ? term : term + " held=" + where_quote(row.holder);
}

}  // namespace

Table describe_arrays(const std::vector<HolderRow>& rows) {
  std::vector<std::vector<Value>> cells;
  std::vector<std::string> terms;
  for (const HolderRow& row : rows) {
    cells.push_back({row.bytes, share_value(row.bytes, rows.front().bytes), row.blocks, category_value(row.category),
                     row.name, value_of(row.holder)});
    terms.push_back(term_of_name(row));
  }
  return {.key = "holders",
          .title = "Arrays by their names in the program",
          .columns = {{.key = "bytes", .title = "Bytes", .unit = Unit::bytes, .share = 1},
                      {.unit = Unit::share},
                      {.key = "blocks", .title = "Blocks", .unit = Unit::count, .rank = 2},
                      {.key = "category", .title = "Used for", .rank = 3},
                      {.key = "name", .title = "Name"},
                      {.key = "held_by", .title = "Held by", .rank = 1}},
          .rows = std::move(cells),
          .shown = 8,
          .how_to_show_more = "--json has all",
          .action = [terms](std::size_t row) { return Action{.kind = Action::Kind::filter, .text = terms[row]}; }};
}

constinit const AnswerRow categories_answer{
    .name = "categories",
    .title = "Categories",
    .help = "What the memory is used for: parameters, activations, ...",
    .needs_trace = true,
    .describe = describe_categories_of,
};

constinit const AnswerRow holders_answer{
    .name = "holders",
    .title = "Arrays",
    .help = "Arrays by their names in the program, and what holds them",
    .needs_trace = true,
    .describe = describe_arrays_of,
};

}  // namespace hbmscope
