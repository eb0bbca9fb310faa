#include "app/gui/views/compare/compare_table.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/table_cells.h"

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "app/gui/core/frame_key.h"

namespace hbmscope::gui {
namespace {

void add_cells(std::vector<TableCell>& cells, const BlockChanges& changes) {
  cells.push_back(delta_cell(changes.delta_bytes()));
  for (const NamedChange& named : named_changes) cells.push_back(count_cell((changes.*named.part).count));
}

}  // namespace

const std::array<NamedChange, 6> named_changes{{
    {"new", "Alive at the current time, but not at the pinned time.", &BlockChanges::added},
    {"gone", "Alive at the pinned time, but not at the current time.", &BlockChanges::gone},
    {"grown", "The same allocation, larger.", &BlockChanges::grown},
    {"shrunk", "The same allocation, smaller.", &BlockChanges::shrunk},
    {"moved", "The same allocation at another address.", &BlockChanges::moved},
    {"same", "Alive at both times, at the same address.", &BlockChanges::unchanged},
}};

std::string compare_sentence(const CompareAnswer& answer) {
  const BlockChange total = answer.diff.changes.total();
  const TextPair sides = texts_from_bytes(total.now_bytes, total.baseline_bytes);
  return fmt::format("now: {}, in use {}; pinned: {}, in use {}; change {} (now - pinned)", answer.now->moment.text,
                     sides.first, answer.pinned->moment.text, sides.second, delta_text_from_bytes(total.delta_bytes()));
}

std::string own_line_text(const BlockDiffRow& row) {
  if (row.function.empty() && row.file.empty()) return std::string(row.no_line_text());
  return fmt::format("{}  {}:{}", row.function, file_title(row.file), row.line);
}

TextTable table_from_compare(const CompareAnswer& answer) {
  TextTable table;
  table.head = compare_sentence(answer);
  table.columns = {{"Change", true}};
  for (const NamedChange& named : named_changes) table.columns.push_back({std::string(named.name), true});
  table.columns.push_back({"Your code"});
  add_cells(table.rows.emplace_back(), answer.diff.changes);
  table.rows.back().push_back({"(all blocks and handles)", {}});
  for (const BlockDiffRow& row : answer.diff.user_code) {
    add_cells(table.rows.emplace_back(), row.changes);
    table.rows.back().push_back({own_line_text(row), {}});
  }
  return table;
}

}  // namespace hbmscope::gui
