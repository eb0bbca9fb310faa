#include "app/cli/report/diff_traces.h"

#include <memory>

#include "analysis/query/job_facts.h"

namespace hbmscope::cli {
namespace {

std::optional<HeapComparison> compare_chosen_heaps(const Source& baseline, const Source& now, HeapKey b) {
  const HeapKey a = choose_alike(*baseline.trace, *now.trace, b);
  if (a.empty() || b.empty()) return std::nullopt;
  return compare_heaps({*baseline.trace, baseline.states, a, baseline.moment.positions[a.stream]},
                       {*now.trace, now.states, b, now.moment.positions[b.stream]});
}

}  // namespace

Result<HeapKey> find_compared_heap(const Source& source, const std::string& name) {
  if (source.trace) return name.empty() ? choose_heap(*source.trace, {}) : find_heap(*source.trace, name);
  if (name.empty()) return HeapKey{};
  return Failure(refusal("--heap needs two traces: profiles have no heaps", "Remove --heap."));
}

std::optional<TraceDiff> compute_trace_diff(const Source& baseline, const Source& now, HeapKey heap) {
  if (!baseline.trace || !now.trace) return std::nullopt;
  return TraceDiff{*baseline.trace,
                   *now.trace,
                   baseline.moment,
                   now.moment,
                   compare_settings(*baseline.trace, *now.trace),
                   std::make_shared<const BlockDiff>(
                       *compute_block_diff({*baseline.trace, baseline.states}, {*now.trace, now.states})),
                   compare_chosen_heaps(baseline, now, heap)};
}

Result<Source> load_at_same(const Source& side, const Source& leads, HeapKey heap, SameMoment same,
                            LoadOptions options) {
  if (!side.trace || !leads.trace)
    return Failure(refusal("--same needs two traces: a profile has only one time", "Remove --same."));
  const HeapKey other = choose_alike(*side.trace, *leads.trace, heap);
  if (heap.empty() || other.empty())
    return Failure(refusal("--same compares heaps, and there is none", "Give both times: --from and --at."));
  const auto found =
      find_matching_moment(*leads.trace, heap, leads.moment.positions[heap.stream], *side.trace, other, same);
  options.at = text_from_position(*side.trace, other.stream, found->position);
  auto moved = load_again(side, options);
  if (moved && found->is_short) moved->moment.text += ", where it ends; the other trace continues";
  return moved;
}

}  // namespace hbmscope::cli
