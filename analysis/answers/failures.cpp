// All failures of a trace together, and what their pool costs.
#include <algorithm>

#include <fmt/format.h>

#include "analysis/answers/failure.h"
#include "analysis/query/chosen_heap.h"
#include "analysis/query/failure_facts.h"
#include "analysis/query/log_headline.h"
#include "analysis/trace/failure_details.h"
#include "analysis/trace/moment.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

constexpr std::size_t lines_max = 16, figures_max = 256;

Document at_peak(const Trace& trace) {
  Document document;
  const HeapKey heap = choose_heap(trace, {});
  const auto outlook = heap.empty() ? std::nullopt : find_outlook(trace, heap);
  if (outlook)
    document.add(describe_outlook(*outlook));
  else
    document.add(Absent{"outlook"});
  const std::string_view doubt = why_no_failure_is_seen(trace);
  document.add(Sentence{.key = "sentence",
                        .text = is_of_log(trace)         ? headline_of_log(trace)
                                : !doubt.empty()         ? std::string(doubt)
                                : trace.files.size() > 1 ? "No request failed in these files."
                                                         : "No request failed in this file."});
  for (const NoteOfLog& note : notes_of_log(trace))
    document.add(Sentence{.key = std::string(note.key), .lead = std::string(note.lead), .text = note.text});
  const auto moment = heap.empty() ? std::nullopt : std::optional(find_moment(trace, "peak"));
  if (!moment || !*moment) return document;
  const auto states = compute_states(trace, **moment);
  const Holders holders = HolderFinder(trace, states, heap).find();
  const bool has_no_list = holders.rows.size() == 1 && holders.rows.front().name == bytes_without_a_list;
  if (holders.rows.empty() || has_no_list) return document;
  Table table = describe_holders(holders);
  table.key.clear();
  table.title = fmt::format("What held the memory at the peak ({} in use)", text_from_bytes(holders.bytes));
  document.add(std::move(table));
  return document;
}

}  // namespace

Document describe_failures(const Trace& trace, const FailuresRequest& request, PassControl* control) {
  const auto requests = find_failed_requests(trace);
  Document document;
  document.add(texts_from("files", trace.files));
  document.add(Figures{{{"failed", static_cast<std::uint64_t>(requests.size()), Unit::count}}});
  if (requests.empty()) {
    document.add(Documents{.key = "failures"});
    document.add(at_peak(trace));
    return document;
  }
  const std::size_t shown = std::min(request.shown, requests.size() - 1);
  const auto number_of = [&](std::size_t i) { return FailureNumber{i + 1, requests.size()}; };
  const Diagnosis full = diagnose(trace, requests[shown], Depth::full, control);
  // Whether the others are its later ends is known of the first one only.
  const std::optional<Diagnosis> first =
      shown == 0 ? std::nullopt : std::optional(diagnose(trace, requests[0], Depth::without_replays, control));
  const auto diagnosed = [&](std::size_t i, bool is_last) {
    if (i == 0 && first) return *first;
    return diagnose(trace, requests[i], is_last ? Depth::without_replays : depth_of_other(first ? *first : full, i),
                    control);
  };
  Document shown_one = describe_failure(trace, full, number_of(shown));
  Documents all{.key = "failures"};
  std::vector<std::vector<Value>> lines;
  const std::size_t described = request.has_all_figures ? std::min(figures_max, requests.size()) : 0;
  for (std::size_t i = 0; i < requests.size() && (i < described || lines.size() + 1 < lines_max); ++i) {
    if (i == shown) {
      if (i < described) all.list.push_back(shown_one);
      continue;
    }
    const Diagnosis other = diagnosed(i, i < described && i + 1 == requests.size());
    if (i < described) all.list.push_back(describe_failure(trace, other, number_of(i)));
    if (lines.size() + 1 < lines_max)
      lines.push_back({title_of_failure(trace, other, number_of(i)) + ": " + other.cause.sentence});
  }
  if (!request.has_all_figures) all.list.push_back(shown_one);
  document.add(std::move(all));
  document.add(Absent{"outlook"});
  shown_one.audience = Audience::readers;
  document.title = std::exchange(shown_one.title, {});
  document.is_bad = true;
  document.add(std::move(shown_one));
  if (const std::string recorded = text_from_recorded(trace); !recorded.empty())
    document.add(Sentence{.key = std::string(recorded_note), .text = recorded, .audience = Audience::programs});
  if (requests.size() == 1) return document;
  const std::size_t left_out = requests.size() - 1 - lines.size();
  document.add(Table{.key = request.has_all_figures ? "" : "other_failures",
                     .title = "The other failures",
                     .columns = {{"sentence", "Failure"}},
                     .rows = std::move(lines),
                     .layout = Layout::lines,
                     .shown = lines_max,
                     .foot = left_out == 0 ? "" : fmt::format("and {} more", text_from_count(left_out))});
  return document;
}

Document describe_pool_costs(const PoolCosts& costs, std::string_view pool) {
  std::string certainty;
  if (costs.confidence != Confidence::checked)
    certainty = !costs.recorded_pool_bytes || *costs.recorded_pool_bytes == costs.pool_bytes
                    ? " (approximate)"
                    : fmt::format(" (approximate: by a replay; the recorded pool had {})",
                                  text_from_bytes(*costs.recorded_pool_bytes));
  Document part{.key = "pool_costs",
                .title = fmt::format("Why {} has {}, and {} was requested{}", pool, text_from_bytes(costs.pool_bytes),
                                     text_from_bytes(costs.requested_bytes), certainty)};
  part.add(Figures{{{"events", costs.position, Unit::count},
                    {"since_start_ns", value_of(costs.since_start_ns), Unit::nanoseconds},
                    {"pool_bytes", costs.pool_bytes, Unit::bytes},
                    {"recorded_pool_bytes", value_of(costs.recorded_pool_bytes), Unit::bytes},
                    {"requested_bytes", costs.requested_bytes, Unit::bytes},
                    {"confidence", std::string(text_from_confidence(costs.confidence))}}});
  const bool has_alone =
      std::any_of(costs.parts.begin(), costs.parts.end(), [](const PoolCostPart& one) { return one.alone_bytes != 0; });
  const bool has_negative = std::any_of(costs.parts.begin(), costs.parts.end(),
                                        [](const PoolCostPart& one) { return one.bytes < 0 || one.alone_bytes < 0; });
  std::vector<std::vector<Value>> all, shown;
  for (const PoolCostPart& one : costs.parts) {
    const bool is_rule = one.cost != PoolCost::fragmentation;
    all.push_back({std::string(name_from_pool_cost(one.cost)), one.bytes, is_rule ? Value(one.alone_bytes) : Value()});
    if (one.bytes == 0 && one.alone_bytes == 0) continue;
    shown.push_back({one.bytes, has_alone && is_rule ? Value(one.alone_bytes) : Value(),
                     std::string(text_from_pool_cost(one.cost)), std::string(explanation_of(one.cost))});
  }
  part.add(Table{.key = "parts",
                 .columns = {{"cost", ""}, {"bytes", "", Unit::bytes}, {"alone_bytes", "", Unit::bytes}},
                 .rows = std::move(all),
                 .audience = Audience::programs});
  part.add(
      Table{.columns = {{.title = "Bytes",
                         .unit = Unit::bytes,
                         .meaning =
                             "By how much the pool shrinks in a replay when these rules are lifted one after another."},
                        {.title = "Alone", .unit = Unit::bytes, .meaning = "The same when only this rule is lifted."},
                        {.title = "What"},
                        {.title = "Meaning", .is_dim = true}},
            .rows = std::move(shown),
            .shown = 100,
            .foot = fmt::format(
                "bytes: by how much the pool shrinks in a replay when these rules are lifted one after another{}{}",
                has_alone ? "; alone: when only this one is" : "",
                has_negative ? "; below 0: without the rule, blocks are placed worse" : ""),
            .audience = Audience::readers});
  return part;
}

}  // namespace hbmscope
