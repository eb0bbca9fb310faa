#include "app/gui/core/answering.h"

namespace hbmscope::gui {
namespace {

// Trees of large profiles take tens of megabytes each; this is enough to go back and forth between several of them.
constexpr std::size_t cache_bytes = std::size_t{512} << 20;

}  // namespace

Error cancelled_error() {
  return {"cancelled", "", "", std::nullopt, false};
}

Answering::Answering(AppState& state, const CommandQueue& commands, WorkerPool& pool)
    : state_(state), commands_(commands), pool_(pool), cache_(cache_bytes) {}

void Answering::forget_all() {
  state_.context().colors = nullptr;
  for_each_answer(state_.context().answers, [](auto& answer, std::string_view) {
    if (answer.work) answer.work->cancelled = true;
    answer = {};
  });
}

void Answering::cancel_all() {
  for (Context& context : state_.contexts)
    for_each_answer(context.answers, [](auto& answer, std::string_view) {
      if (answer.work) answer.work->cancelled = true;
    });
}

void Answering::ask_again_what_was_cancelled() {
  for (Context& context : state_.contexts)
    for_each_answer(context.answers, [](auto& answer, std::string_view) {
      if (!answer.work || !answer.work->cancelled) return;
      answer.work = nullptr;
      answer.key = {};
    });
}

}  // namespace hbmscope::gui
