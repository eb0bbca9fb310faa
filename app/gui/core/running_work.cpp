#include "app/gui/core/running_work.h"

#include <algorithm>

namespace hbmscope::gui {

std::vector<RunningWork> running_work(const std::vector<Context>& contexts) {
  std::vector<RunningWork> all;
  const auto add = [&](const AnswerSlot& answer, std::string_view what) {
    if (!answer.pending()) return;
    RunningWork one{what, answer.pending_since, 0, 0};
    if (answer.work != nullptr) {
      // Events are counted in whole blocks, even if only part of the last block is needed.
      one.total_events = answer.work->total_events;
      one.done_events = std::min<std::uint64_t>(one.total_events, answer.work->done_events);
    }
    all.push_back(one);
  };
  for (const Context& context : contexts) for_each_answer(context.answers, add);
  std::stable_sort(all.begin(), all.end(),
                   [](const RunningWork& a, const RunningWork& b) { return a.since < b.since; });
  return all;
}

bool has_stopped_work(const std::vector<Context>& contexts) {
  bool found = false;
  const auto look_at = [&](const AnswerSlot& answer, std::string_view) { found |= answer.is_stopped; };
  for (const Context& context : contexts) for_each_answer(context.answers, look_at);
  return found;
}

}  // namespace hbmscope::gui
