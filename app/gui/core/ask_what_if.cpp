// Questions about what would have happened under other settings.
#include <algorithm>

#include "analysis/answers/what_if.h"
#include "analysis/diagnose/site_change.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/questions.h"

namespace hbmscope::gui {
namespace {

struct WhatIfOptions {
  HeapKey heap;
  std::string words;
  bool operator==(const WhatIfOptions&) const = default;
};

std::shared_ptr<const WhatIfAnswer> find_answer(const std::shared_ptr<const Trace>& trace, HeapKey heap,
                                                const std::string& words, Work& work) {
  auto answer = std::make_shared<WhatIfAnswer>();
  answer->trace = trace;
  answer->heap = heap;
  if (trace->streams[heap.stream].end_position() > quick_events_max) {
    answer->unknown = Error{"the recording has more than five million events", "Use hbmscope whatif.", {}, {}, {}};
    return answer;
  }
  WhatIfChoice choice = choice_of_heap(*trace, heap);
  choice.device_bytes_otherwise = device_bytes_in(words).value_or(0);
  const auto source = find_what_if_source(*trace, choice);
  if (!source) {
    answer->unknown = source.error();
    return answer;
  }
  answer->own = text_from_own_settings(source->own) + ". " + text_from_check(*source);
  answer->notes = source->own.notes;
  std::vector<Scenario> scenarios = usual_scenarios(source->own);
  // For a job on an unknown device, it was the device.
  const bool is_only_the_device = !source->own.is_device_recorded &&
                                  source->own.device_bytes == choice.device_bytes_otherwise &&
                                  words.starts_with("device=") && words.find(' ') == std::string::npos;
  if (!words.empty() && !is_only_the_device) {
    if (auto typed = find_scenario(*trace, *source, words))
      scenarios.insert(scenarios.begin() + 1, std::move(*typed));
    else
      answer->wrong_words = typed.error().text();
  }
  answer->rows = run_what_if(*source, std::move(scenarios), work);
  put_fitting_first(answer->rows);
  // What was typed stands above what people usually try, whether it fits or not.
  const auto typed = std::find_if(answer->rows.begin(), answer->rows.end(),
                                  [&](const WhatIfRow& row) { return row.scenario.name == words; });
  if (typed != answer->rows.end() && typed != answer->rows.begin())
    std::rotate(answer->rows.begin() + 1, typed, typed + 1);
  if (const std::string missing = text_from_missing(*source, answer->rows); !missing.empty())
    answer->own += "\n" + missing;
  for (WhatIfRow& row : answer->rows) row.scenario.change = {};
  answer->table = describe_what_if_rows(*source, answer->rows);
  return answer;
}

}  // namespace

void ask_what_if(Answering& asking) {
  const Source* source = asking.state().source();
  if (source == nullptr || source->state != AnswerState::ready || !source->trace) return;
  if (source->is_part() && !source->live) return;
  const HeapKey heap = choose_heap(*source->trace, asking.position().heap);
  if (heap.empty()) return;
  // A growing trace is replayed again only when it has doubled.
  const std::string& words = asking.position().what_if;
  const std::uint64_t events = source->trace->streams[heap.stream].end_position();
  const auto& known = asking.answers().what_if;
  const bool is_same = known.value && known.key.options == AnswerOptions(WhatIfOptions{heap, words});
  if (source->live && is_same && events < 2 * asking.notes().answered_events.what_if) return;
  asking.notes().answered_events.what_if = events;
  asking.ask(&Answers::what_if, {source->id, WhatIfOptions{heap, words}},
             [trace = source->trace, heap, words](Work& work) -> Computed<WhatIfAnswer> {
               auto answer = find_answer(trace, heap, words, work);
               if (work.cancelled) return Failure(cancelled_error());
               const std::size_t bytes = 4096 + answer->rows.size() * (sizeof(WhatIfRow) + 256);
               return {std::move(answer), bytes};
             });
}

}  // namespace hbmscope::gui
