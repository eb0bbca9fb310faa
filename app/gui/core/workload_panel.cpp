#include "app/gui/core/workload_panel.h"

#include <algorithm>
#include <bit>
#include <charconv>

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
  answer->title = hbmscope::title_of(*opened->now);
  answer->verdict = verdict_of(*opened->now);
  answer->as_written_fits = opened->as_written->emulation.failures.empty();
  answer->has_words_as_written = have_same_words(answer->verdict, verdict_of(*opened->as_written));
  answer->tiers = compute_tier_rows(*opened->now);
  answer->figures = compute_workload_figures(*opened->now);
  answer->differences = compare_workloads(*opened->now, *opened->as_written);
  answer->opened = std::move(opened);
  return answer;
}

const WorkloadChange* find_change(const WorkloadKnob& knob, const std::vector<WorkloadChange>& changes) {
  const auto found =
      std::find_if(changes.rbegin(), changes.rend(), [&](const WorkloadChange& each) { return each.key == knob.key; });
  return found != changes.rend() ? &*found : nullptr;
}

SliderRange slider_range(const WorkloadKnob& knob) {
  std::int64_t written = 0;
  std::from_chars(knob.written.data(), knob.written.data() + knob.written.size(), written);
  const auto within = [&](std::int64_t number) { return std::clamp(number, knob.least, knob.most); };
  const bool is_power = written > 0 && std::has_single_bit(static_cast<std::uint64_t>(written));
  if (is_power && written >= knob.least && written <= knob.most) {
    constexpr int reach = 64;
    SliderRange range{written, written, true};
    while (range.least > 1 && range.least / 2 >= knob.least && range.least > written / reach) range.least /= 2;
    while (range.most <= knob.most / 2 && range.most < written * reach) range.most *= 2;
    return range;
  }
  // One below its least stands for what holds where the file says nothing.
  if (knob.written.empty()) return {knob.least - 1, within(std::max<std::int64_t>(8, knob.usual * 4)), false};
  if (written > 0) return {within(1), within(std::max<std::int64_t>(written * 4, 4)), false};
  return {within(written * 4), within(std::max<std::int64_t>(-written * 4, 8)), false};
}

std::string value_of(const WorkloadKnob& knob, const std::vector<WorkloadChange>& changes) {
  const WorkloadChange* change = find_change(knob, changes);
  return change != nullptr ? change->value : knob.written;
}

std::vector<WorkloadChange> with_change(const std::vector<WorkloadKnob>& knobs, std::vector<WorkloadChange> changes,
                                        const WorkloadChange& change) {
  std::erase_if(changes, [&](const WorkloadChange& each) { return each.key == change.key; });
  changes.push_back(change);
  std::vector<WorkloadChange> ordered;
  for (const WorkloadKnob& knob : knobs) {
    const WorkloadChange* of = find_change(knob, changes);
    if (of != nullptr && !of->value.empty() && (knob.is_worked_out || of->value != knob.written))
      ordered.push_back(*of);
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
  const auto add = [&](const WorkloadFigure& figure, const std::string& name) {
    const auto difference =
        std::find_if(answer.differences.begin(), answer.differences.end(),
                     [&](const WorkloadDifference& each) { return each.of == figure.of && each.name == figure.name; });
    const bool is_other = difference != answer.differences.end();
    table.rows.push_back({{figure.of, {}}, {name, {}}, cell_of(figure), cell_of(is_other ? difference->was : figure)});
  };
  for (const TierRow& row : answer.tiers) {
    const std::string room = text_of_room(row);
    add({row.name, "peak", row.peak_bytes, FigureUnit::bytes, {}}, room.empty() ? "peak" : "peak, " + room);
  }
  for (const WorkloadFigure& figure : answer.figures) add(figure, figure.name);
  for (const WorkloadDifference& each : answer.differences)
    if (!each.now) table.rows.push_back({{each.of, {}}, {each.name, {}}, cell_of(each.now), cell_of(each.was)});
  return table;
}

}  // namespace hbmscope::gui
