// Two heaps in figures, and why they differ.
#include <fmt/format.h>

#include "analysis/answers/diff.h"
#include "analysis/model/clamped.h"
#include "analysis/units/format.h"

namespace hbmscope {
using Cells = std::vector<std::vector<Value>>;

Table describe_settings(const std::vector<SettingChange>& settings) {
  Cells rows;
  for (const SettingChange& one : settings)
    rows.push_back({one.key, value_of(one.baseline), value_of(one.now),
                    fmt::format("{}: {} -> {}", one.key, text_from_setting(one.baseline), text_from_setting(one.now))});
  return {.key = "settings",
          .title = "Different settings: baseline -> now",
          .columns = {{.key = "key"}, {.key = "baseline"}, {.key = "now"}, {.title = "Setting"}},
          .rows = std::move(rows),
          .layout = Layout::lines,
          .shown = settings.size()};
}

Table describe_heap_figures(const std::vector<ComparisonRow>& figures) {
  constexpr std::string_view units[] = {"bytes", "count", hundredths_of_percent};
  const auto unit_of = [units](const ComparisonRow& one) { return units[static_cast<std::size_t>(one.unit)]; };
  Cells rows;
  for (const ComparisonRow& one : figures)
    rows.push_back({std::string(one.name), value_of(one.a), value_of(one.b),
                    one.a && one.b ? Value(*one.b - *one.a) : Value(), std::string(unit_of(one))});
  Table table{.key = "figures",
              .columns = {{.key = "name", .title = "Figure", .width = 150},
                          {.key = "baseline", .title = "A", .unit = Unit::amount},
                          {.key = "now", .title = "B", .unit = Unit::amount},
                          {.title = "B - A", .unit = Unit::amount, .is_change = true},
                          {.key = "unit"}},
              .rows = std::move(rows),
              .shown = figures.size()};
  table.row_unit = [figures, unit_of](std::size_t at) { return unit_of(figures[at]); };
  table.row_meaning = [figures](std::size_t at) { return std::string(figures[at].meaning); };
  return table;
}

Table describe_held_on_sides(const std::vector<HeldOnSides>& lines) {
  Table table{.columns = {{.title = "B - A", .unit = Unit::bytes, .share = 1, .is_change = true},
                          {.unit = Unit::share},
                          {.title = "A", .unit = Unit::bytes, .rank = 2},
                          {.title = "B", .unit = Unit::bytes, .rank = 1},
                          {.title = "What"}},
              .shown = lines.size()};
  Cells rows;
  for (const HeldOnSides& one : lines)
    rows.push_back(
        {one.change(), share_value(one.change(), clamped_magnitude(lines.front().change())), one.a, one.b, one.name});
  table.rows = std::move(rows);
  table.action = [lines](std::size_t row) {
    return lines[row].where.empty() ? Action{} : Action{.kind = Action::Kind::filter, .text = lines[row].where};
  };
  table.row_meaning = [lines](std::size_t row) {
    return std::string(lines[row].where.empty() ? "" : "Click to filter this side to it");
  };
  return table;
}

Document describe_differences(const HeapComparison& heaps, const std::vector<SettingChange>& settings,
                              std::optional<Holders::By> held_by, const std::vector<HeldOnSides>& lines) {
  Document words;
  if (settings.empty()) {
    words.add(Sentence{.text = "No setting differs, as far as both files say.", .tone = Tone::dim});
  } else {
    Table table = describe_settings(settings);
    table.title = "Settings that differ";
    words.add(std::move(table));
  }
  Document reasons{.title = "Why they differ"};
  for (const std::string& sentence : heaps.sentences) reasons.add(Sentence{.text = sentence});
  words.add(std::move(reasons));
  const Holders::By by = held_by.value_or(Holders::By::code);
  Document changed{.title = fmt::format("What changed, by {}", by == Holders::By::code ? "line" : text_from_by(by))};
  if (!held_by)
    changed.add(
        Sentence{.text = "Nothing that both files say of their blocks: one has lines of your code, the other has not.",
                 .tone = Tone::dim});
  else if (lines.empty())
    changed.add(Sentence{.text = "The same on both sides.", .tone = Tone::dim});
  else
    changed.add(describe_held_on_sides(lines));
  words.add(std::move(changed));
  return words;
}

}  // namespace hbmscope
