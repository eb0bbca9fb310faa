#include "app/gui/sources/workload_panel.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include <fmt/format.h>

#include "analysis/answers/workload.h"
#include "analysis/units/format.h"

namespace hbmscope::gui {

std::shared_ptr<const WorkloadAnswer> answer_of(std::shared_ptr<const OpenedWorkload> opened) {
  auto answer = std::make_shared<WorkloadAnswer>();
  answer->title = workload_title(*opened->now);
  answer->verdict = compute_workload_verdict(*opened->now);
  const WorkloadVerdict written = compute_workload_verdict(*opened->unmodified);
  answer->unmodified_fits = written.fits;
  answer->has_text_of_unmodified = have_same_words(answer->verdict, written);
  answer->tiers = compute_tier_rows(*opened->now);
  answer->memory = describe_tiers(answer->tiers);
  std::vector<WorkloadDifference> figures = compare_workloads(*opened->now, *opened->unmodified);
  if (opened->changes.empty())
    for (const WorkloadFigure& each : compute_workload_figures(*opened->now))
      figures.push_back({each.of, each.name, each, {}});
  answer->figures = describe_figures(figures, {});
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
  // The value below the minimum stands for the default, used when the file sets no value.
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
    if (of != nullptr && !of->value.empty() && (knob.is_computed || of->value != knob.written)) ordered.push_back(*of);
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

}  // namespace hbmscope::gui
