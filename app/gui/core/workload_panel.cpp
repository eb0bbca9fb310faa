#include "app/gui/core/workload_panel.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/units/format.h"

namespace hbmscope::gui {
namespace {

TableCell cell_of(const std::optional<WorkloadFigure>& figure) {
  if (!figure) return {"not there", {}};
  return {text_from_figure(*figure), figure->value ? fmt::to_string(*figure->value) : std::string()};
}

}  // namespace

std::shared_ptr<const WorkloadAnswer> answer_of(std::shared_ptr<const OpenedWorkload> opened) {
  auto answer = std::make_shared<WorkloadAnswer>();
  answer->title = title_of(*opened->now);
  answer->verdict = verdict_of(*opened->now);
  answer->as_written_fits = opened->as_written->emulation.failures.empty();
  answer->tiers = compute_tier_rows(*opened->now);
  answer->figures = compute_workload_figures(*opened->now);
  answer->differences = compare_workloads(*opened->now, *opened->as_written);
  answer->opened = std::move(opened);
  return answer;
}

std::string value_of(const WorkloadKnob& knob, const std::vector<WorkloadChange>& changes) {
  for (const WorkloadChange& change : changes)
    if (change.key == knob.key) return change.value;
  return knob.written;
}

std::vector<WorkloadChange> with_change(const std::vector<WorkloadKnob>& knobs, std::vector<WorkloadChange> changes,
                                        const WorkloadChange& change) {
  std::erase_if(changes, [&](const WorkloadChange& each) { return each.key == change.key; });
  changes.push_back(change);
  std::vector<WorkloadChange> ordered;
  for (const WorkloadKnob& knob : knobs) {
    const std::string value = value_of(knob, changes);
    if (value != knob.written && !value.empty()) ordered.push_back({knob.key, value});
  }
  return ordered;
}

std::string text_from_changes(const std::vector<WorkloadChange>& changes) {
  return fmt::format("{}", fmt::join(words_from_changes(changes), ", "));
}

std::vector<std::string> words_from_changes(const std::vector<WorkloadChange>& changes) {
  std::vector<std::string> words;
  for (const WorkloadChange& change : changes) words.push_back(text_from_workload_change(change));
  return words;
}

std::vector<WorkloadChange> changes_from_words(const std::vector<std::string>& words) {
  std::vector<WorkloadChange> changes;
  for (const std::string& word : words)
    if (auto change = parse_workload_change(word)) changes.push_back(std::move(*change));
  return changes;
}

TextTable table_from_workload(const WorkloadAnswer& answer) {
  TextTable table;
  table.head = answer.title + ": " + answer.verdict.sentence;
  for (const WorkloadReason& reason : answer.verdict.reasons)
    table.head += fmt::format(" step {}: {}", reason.step, reason.sentence);
  table.columns = {{"Of"}, {"What"}, {"Now", true}, {"As written", true}};
  for (const TierRow& row : answer.tiers)
    table.rows.push_back({{row.name, {}},
                          {"peak, " + text_of_room(row), {}},
                          {text_from_bytes(row.peak_bytes), fmt::to_string(row.peak_bytes)},
                          {}});
  const auto find_difference = [&](const WorkloadFigure& figure) {
    return std::find_if(answer.differences.begin(), answer.differences.end(), [&](const WorkloadDifference& each) {
      return each.of == figure.of && each.name == figure.name;
    });
  };
  for (const WorkloadFigure& figure : answer.figures) {
    const auto difference = find_difference(figure);
    const bool is_other = difference != answer.differences.end();
    table.rows.push_back(
        {{figure.of, {}}, {figure.name, {}}, cell_of(figure), cell_of(is_other ? difference->was : figure)});
  }
  return table;
}

}  // namespace hbmscope::gui
