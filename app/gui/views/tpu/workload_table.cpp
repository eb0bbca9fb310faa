#include "app/gui/views/tpu/workload_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace hbmscope::gui {
namespace {

TableCell cell_of(const std::optional<WorkloadFigure>& figure) {
  if (!figure) return {"none", {}};
  return {text_from_figure(*figure), figure->value ? fmt::to_string(*figure->value) : std::string()};
}

}  // namespace

TextTable table_from_workload(const WorkloadAnswer& answer) {
  TextTable table;
  table.head = answer.title + ": " + answer.verdict.sentence;
  for (const WorkloadReason& reason : answer.verdict.reasons) table.head += " " + text_from_reason(reason);
  table.columns = {{"Part"}, {"Figure"}, {"Now", true}, {"Unmodified", true}};
  const auto add = [&](const WorkloadFigure& figure, const std::string& name) {
    const auto difference =
        std::find_if(answer.differences.begin(), answer.differences.end(),
                     [&](const WorkloadDifference& each) { return each.of == figure.of && each.name == figure.name; });
    const bool is_other = difference != answer.differences.end();
    table.rows.push_back({{figure.of, {}}, {name, {}}, cell_of(figure), cell_of(is_other ? difference->was : figure)});
  };
  for (const TierRow& row : answer.tiers) {
    const std::string room = text_from_room(row);
    add({row.name, "peak", row.peak_bytes, FigureUnit::bytes, {}}, room.empty() ? "peak" : "peak, " + room);
  }
  for (const WorkloadFigure& figure : answer.figures) add(figure, figure.name);
  for (const WorkloadDifference& each : answer.differences)
    if (!each.now) table.rows.push_back({{each.of, {}}, {each.name, {}}, cell_of(each.now), cell_of(each.was)});
  return table;
}

}  // namespace hbmscope::gui
