#include "app/gui/core/running_work.h"

#include <algorithm>

namespace hbmscope::gui {
namespace {

template <class Visit>
void for_each_answer(const Answers& answers, const Visit& visit) {
  visit(answers.moment, "the moment");
  visit(answers.heap_map, "the heap map");
  visit(answers.live_blocks, "the blocks");
  visit(answers.blocks, "the table of blocks");
  visit(answers.events, "the events");
  visit(answers.address, "what the address held");
  visit(answers.timeline, "the timeline");
  visit(answers.timeline_part, "the stretch of the timeline");
  visit(answers.address_time, "addresses over time");
  visit(answers.range, "the range");
  visit(answers.free, "what is free");
  visit(answers.free_history, "what moved fragmentation");
  visit(answers.failure, "why it failed");
  visit(answers.beside, "what differs");
  visit(answers.sizes, "sizes and lifetimes");
  visit(answers.view, "the stacks");
  visit(answers.baseline_view, "the stacks of the baseline");
  visit(answers.summary, "the summary");
  visit(answers.top, "the top table");
  visit(answers.flame, "the flame graph");
  visit(answers.search, "the search");
  visit(answers.tree, "the call tree");
  visit(answers.detail, "the selection");
  visit(answers.diff, "the differences");
  visit(answers.listing, "the source");
  visit(answers.series, "the totals");
}

template <class Visit>
void for_each_answer(const std::vector<Context>& contexts, const Visit& visit) {
  for (const Context& context : contexts) for_each_answer(context.answers, visit);
}

}  // namespace

std::vector<RunningWork> running_work(const std::vector<Context>& contexts) {
  std::vector<RunningWork> all;
  for_each_answer(contexts, [&](const auto& answer, std::string_view what) {
    if (!answer.pending()) return;
    RunningWork one{what, answer.asked, 0, 0};
    if (answer.work != nullptr) {
      // Blocks are counted whole, also the last one, of which only a part may be wanted.
      one.total_events = answer.work->total_events;
      one.done_events = std::min<std::uint64_t>(one.total_events, answer.work->done_events);
    }
    all.push_back(one);
  });
  std::stable_sort(all.begin(), all.end(),
                   [](const RunningWork& a, const RunningWork& b) { return a.since < b.since; });
  return all;
}

bool has_stopped_work(const std::vector<Context>& contexts) {
  bool found = false;
  for_each_answer(contexts, [&](const auto& answer, std::string_view) { found |= answer.is_stopped; });
  return found;
}

}  // namespace hbmscope::gui
