#include "app/gui/views/side_by_side/side_by_side_table.h"

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"

namespace hbmscope::gui {
namespace {

std::string exact_text(std::optional<std::int64_t> figure) {
  return figure ? std::to_string(*figure) : std::string();
}

}  // namespace

TextTable table_from_side_by_side(const SideBySideAnswer& answer) {
  TextTable table;
  table.head = fmt::format("A: {}, {}. B: {}, {}.", answer.heaps.a.label, phrase_of(answer.a->moment),
                           answer.heaps.b.label, phrase_of(answer.b->moment));
  for (const std::string& sentence : answer.heaps.sentences) table.head += " " + sentence;
  table.columns = {{"Figure"}, {"A", true}, {"B", true}, {"B - A", true}};
  for (const SettingChange& setting : answer.settings)
    table.rows.push_back({{setting.key, {}},
                          {text_from_setting(setting.baseline), {}},
                          {text_from_setting(setting.now), {}},
                          {"differs", {}}});
  for (const ComparisonRow& row : answer.heaps.rows) {
    std::optional<std::int64_t> difference;
    if (row.a && row.b) difference = *row.b - *row.a;
    table.rows.push_back({{std::string(row.name), {}},
                          {text_from_figure(row, row.a), exact_text(row.a)},
                          {text_from_figure(row, row.b), exact_text(row.b)},
                          {text_from_difference(row), exact_text(difference)}});
  }
  for (const HeldOnSides& line : answer.lines)
    table.rows.push_back({{line.name, {}},
                          {text_from_bytes(line.a), std::to_string(line.a)},
                          {text_from_bytes(line.b), std::to_string(line.b)},
                          {delta_text_from_bytes(line.change()), std::to_string(line.change())}});
  return table;
}

}  // namespace hbmscope::gui
