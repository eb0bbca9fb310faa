#include "app/gui/core/trace_steps.h"

#include <algorithm>
#include <cstdlib>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

std::shared_ptr<const TraceSteps> shown_steps(const AppState& state) {
  const auto& known = state.answers().steps.value;
  const Source* source = state.source();
  if (!known || source == nullptr || known->trace != source->trace || known->steps.empty()) return nullptr;
  return known->heap == choose_heap(*source->trace, state.position().heap) ? known : nullptr;
}

namespace {

std::optional<Overlay> previous_step(const AppState& state) {
  const auto steps = shown_steps(state);
  const auto step = current_step(state);
  if (!steps || !step || *step == 0) return std::nullopt;
  const TimelineSpan before = steps->span_of(*step - 1);
  const std::int64_t shift = before.begin - steps->steps[*step].at;
  return Overlay{state.position().source,
                 steps->heap,
                 shift,
                 {before.begin - shift, before.end - shift},
                 "the step before (" + std::string(steps->steps[*step - 1].name) + ")",
                 false};
}

// Both axes begin with the first step, if there are steps, else with the first event.
std::optional<Overlay> other_side(const AppState& state) {
  if (!state.is_split()) return std::nullopt;
  const std::size_t other = 1 - state.context_index();
  const auto own = shown_steps(state);
  const auto own_timeline = state.answers().timeline.value;
  if (!own_timeline) return std::nullopt;
  const ContextScope scope(state, other);
  const Source* source = state.source();
  const auto& timeline = state.answers().timeline.value;
  if (source == nullptr || source->state != AnswerState::ready || !source->trace || !timeline) return std::nullopt;
  if (timeline->heap.empty() || !(timeline->heap == choose_heap(*source->trace, state.position().heap)))
    return std::nullopt;
  if (timeline->has_times != own_timeline->has_times) return std::nullopt;
  std::string words = std::string(side_name(other)) + " (" + source->name() + ")";
  if (state.lock == SameMoment::requests)
    return Overlay{state.position().source, timeline->heap, 0, own_timeline->whole, std::move(words), true};
  const auto steps = shown_steps(state);
  const std::int64_t shift = own && steps ? steps->steps.front().at - own->steps.front().at : 0;
  return Overlay{
      state.position().source, timeline->heap, shift, {timeline->whole.begin - shift, timeline->whole.end - shift},
      std::move(words),        false};
}

}  // namespace

std::optional<std::size_t> TraceSteps::find(std::uint64_t position) const {
  const auto behind = std::upper_bound(steps.begin(), steps.end(), position,
                                       [](std::uint64_t at, const TraceStep& one) { return at < one.event; });
  if (behind == steps.begin()) return std::nullopt;
  return static_cast<std::size_t>(behind - steps.begin()) - 1;
}

TimelineSpan TraceSteps::span_of(std::size_t step) const {
  if (step + 1 < steps.size()) return {steps[step].at, steps[step + 1].at};
  return {steps[step].at, steps[step].at + (steps[step].at - steps[step - 1].at)};
}

std::optional<std::int64_t> TraceSteps::growth_of(std::size_t step) const {
  if (step + 1 >= steps.size()) return std::nullopt;
  return steps[step + 1].in_use - steps[step].in_use;
}

std::optional<std::size_t> TraceSteps::find_largest_growth(double begin, double end) const {
  auto first = std::upper_bound(steps.begin(), steps.end(), begin,
                                [](double at, const TraceStep& one) { return at < static_cast<double>(one.at); });
  if (first != steps.begin()) --first;
  std::optional<std::size_t> largest;
  std::int64_t most = 0;
  for (auto step = first; step != steps.end() && static_cast<double>(step->at) < end; ++step) {
    const auto index = static_cast<std::size_t>(step - steps.begin());
    const std::int64_t bytes = std::abs(growth_of(index).value_or(0));
    if (bytes <= most || static_cast<double>(span_of(index).end) <= begin) continue;
    most = bytes;
    largest = index;
  }
  return largest;
}

std::size_t TraceSteps::count_in(double begin, double end) const {
  return static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [&](const TraceStep& one) {
    return static_cast<double>(one.at) >= begin && static_cast<double>(one.at) < end;
  }));
}

std::string length_text(bool has_times, const TimelineSpan& span, const TraceSteps* steps) {
  std::string text = has_times ? text_from_moment_ns(span.length()) : text_from_count_of(span.length(), "event");
  const std::size_t count =
      steps == nullptr ? 0 : steps->count_in(static_cast<double>(span.begin), static_cast<double>(span.end));
  if (count > 0) text += ", " + text_from_count_of(signed_from(count), "step");
  return text;
}

std::optional<std::size_t> current_step(const AppState& state) {
  const auto steps = shown_steps(state);
  const auto& moment = state.answers().moment.value;
  if (!steps || !moment || moment->trace != steps->trace) return std::nullopt;
  return steps->find(moment->position(steps->heap));
}

std::optional<Overlay> find_overlay(const AppState& state) {
  return state.position().overlays_step ? previous_step(state) : other_side(state);
}

}  // namespace hbmscope::gui
