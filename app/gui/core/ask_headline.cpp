// What the answer bar says: why a request failed, else what the peak was.
#include "app/gui/core/questions.h"

#include "app/gui/core/answers.h"

namespace hbmscope::gui {
namespace {

struct HeadlineOptions {
  HeapKey heap;
  std::optional<std::size_t> failure;  // Index among the failures of the heap's stream.
  bool operator==(const HeadlineOptions&) const = default;
};

struct Subject {
  HeapKey heap;
  std::optional<std::size_t> failure;  // In the heap's stream.
};

// The shown heap if one of its requests failed, or if none of any heap did; otherwise the heap of the first failure.
Subject choose_subject(const Trace& trace, HeapKey shown, std::uint64_t position) {
  if (const auto own = find_failure(trace.streams[shown.stream], shown.heap, position)) return {shown, own};
  const std::vector<NamedHeap> failed = heaps_with_failure(trace);
  if (failed.empty()) return {shown, std::nullopt};
  const HeapKey heap = failed.front().key;
  return {heap, find_failure(trace.streams[heap.stream], heap.heap, 0)};
}

std::string name_of_heap(const Trace& trace, HeapKey key) {
  for (const NamedHeap& heap : heaps_of(trace))
    if (heap.key == key) return heap.name;
  return {};
}

// What the job named and holds most of the heap.
std::optional<HolderRow> find_largest_name(const Trace& trace, const std::vector<StreamState>& states, HeapKey heap) {
  auto rows = compute_holder_rows(trace, states, [heap](std::size_t stream, const LiveBlock& block) {
    return stream == heap.stream && block.heap == heap.heap;
  });
  return rows.empty() ? std::nullopt : std::optional(std::move(rows.front()));
}

void describe_peak(const Trace& trace, HeadlineAnswer& answer) {
  const HeapKey heap = answer.heap;
  const Stream& stream = trace.streams[heap.stream];
  answer.peak = stream.peak(heap.heap);
  if (stream.has_times() && answer.peak.position > 0)
    answer.peak_since_start_ns = stream.since_start_ns(answer.peak.time_ns);
  const auto moment = MomentName(trace, heap.stream, answer.peak.position).find_in(trace);
  if (!moment) return;
  const std::vector<StreamState> states = compute_states(trace, *moment);
  const HeapState& state = states[heap.stream].heap(heap.heap);
  answer.peak_pool_bytes = state.space.region_bytes().value_or(0);
  answer.peak_free_bytes = state.space.free_bytes();
  answer.peak_largest_free_bytes = state.space.largest_free();
  answer.holders = HolderFinder(trace, states, heap).find();
  answer.largest_name = find_largest_name(trace, states, heap);
  answer.outlook = find_outlook(trace, heap);
}

// The name is that of user_code_text().
FrameKey find_line(const Definitions& definitions, const std::string& name) {
  for (std::uint32_t id = 1; id < definitions.frame_count(); ++id) {
    const TraceFrame frame = definitions.frame(id);
    const std::string_view function = definitions.text(frame.function), file = definitions.text(frame.file);
    if (!name.starts_with(function) || own_line_name(function, file, frame.line) != name) continue;
    return {std::string(function), std::string(file), frame.line, true};
  }
  return {};
}

}  // namespace

void ask_headline(Answering& asking) {
  const Source* source = asking.state().source();
  if (source == nullptr || source->state != AnswerState::ready || !source->trace) return;
  if (source->is_part() && !source->live) return;  // What is still unread may change it.
  const HeapKey shown = choose_heap(*source->trace, asking.position().heap);
  if (shown.empty()) return;
  const auto moment = ready_moment(asking.state());
  if (moment == nullptr) return;
  const Subject subject = choose_subject(*source->trace, shown, moment->position(shown));
  // For a running job it is computed again when a quarter of its events are new, or when a request failed.
  const std::uint64_t events = source->trace->streams[subject.heap.stream].end_position();
  const auto& known = asking.answers().headline.value;
  const auto* asked = asking.answers().headline.key.options.as<HeadlineOptions>();
  const bool is_same = known && asked != nullptr && *asked == HeadlineOptions{subject.heap, subject.failure};
  if (source->live && is_same &&
      events < asking.notes().answered_events.headline + asking.notes().answered_events.headline / 4)
    return;
  asking.notes().answered_events.headline = events;
  asking.ask(&Answers::headline, {source->id, HeadlineOptions{subject.heap, subject.failure}},
             [trace = source->trace, subject](Work& work) -> Computed<HeadlineAnswer> {
               auto answer = std::make_shared<HeadlineAnswer>();
               answer->trace = trace;
               answer->heap = subject.heap;
               answer->heap_name = name_of_heap(*trace, subject.heap);
               if (subject.failure) {
                 const FailureNumber number = number_of_failure(trace->streams[subject.heap.stream], *subject.failure);
                 answer->number = number.number;
                 answer->of = number.of;
                 answer->facts = std::make_shared<const GatheredFacts>(
                     gather_facts(*trace, {subject.heap.stream, *subject.failure}));
                 answer->failure = conclude(*trace, *answer->facts, Depth::without_replays, &work);
                 const auto at = find_moment(*trace, subject.heap.stream, answer->failure->facts.event);
                 if (at) answer->largest_name = find_largest_name(*trace, compute_states(*trace, *at), subject.heap);
               } else {
                 describe_peak(*trace, *answer);
               }
               if (work.cancelled) return Failure(cancelled_error());
               if (const Growth* growth = answer->growth(); growth != nullptr && !growth->survivors.empty())
                 answer->grows_by =
                     find_line(trace->streams[subject.heap.stream].definitions(), growth->survivors.front().name);
               return {std::move(answer), 65'536};
             });
}

}  // namespace hbmscope::gui
