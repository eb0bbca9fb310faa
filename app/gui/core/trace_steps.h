// The steps of the program in front: where each begins on the timeline, what the heap held then, and the step before
// the current one, laid over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/chosen_heap.h"
#include "app/gui/core/timeline_span.h"
#include "app/gui/sources/source_id.h"

namespace hbmscope::gui {

struct AppState;

// A step begins before its event and ends where the next one begins.
struct TraceStep {
  std::uint64_t event = 0;
  std::int64_t at = 0;  // On the timeline's axis.
  std::string_view name;
  std::int64_t in_use = 0;  // In the heap, where it begins.
};
struct TraceSteps {
  std::shared_ptr<const Trace> trace;
  HeapKey heap;
  std::vector<TraceStep> steps;  // At least two, or none.
  // A step after the first ones left something. With so few steps, it is only what the program's start did.
  bool leaves_something = false;

  // The step that a position of the heap's stream is in; nothing before the first one.
  std::optional<std::size_t> find(std::uint64_t position) const;
  // The last step has no known end: it lasts as long as the one before it.
  TimelineSpan span_of(std::size_t step) const;
  // What the step left behind: what was in use at its end minus what was at its start; nothing for the last one.
  std::optional<std::int64_t> growth_of(std::size_t step) const;
  // Of the steps in a part of the axis, the one that left most behind, or gave most back; nothing if none did.
  std::optional<std::size_t> find_largest_growth(double begin, double end) const;
  // How many begin in a part of the axis.
  std::size_t count_in(double begin, double end) const;
};

// "1.82 s, 9 steps"; "340 events" on an axis of events. Without steps, the length alone.
std::string length_text(bool has_times, const TimelineSpan& span, const TraceSteps* steps = nullptr);

// Another course that the timeline shows over its own: of the step before the current one, or of the other side.
struct Overlay {
  SourceId source = SourceId::none;
  HeapKey heap;
  std::int64_t shift = 0;  // Its axis minus the timeline's own.
  TimelineSpan shown;      // On the timeline's own axis.
  std::string words;       // What it is: "train step 12", "B: big.hbm".
  // The same number of requests lie above each other, as the sides are locked; there is no shift then.
  bool is_by_requests = false;
};
// For the bound context; nothing if there is none, or what it needs is not known yet.
std::optional<Overlay> find_overlay(const AppState& state);

// The steps of the shown heap, in the bound context. Null if there are none, or they aren't known (yet).
std::shared_ptr<const TraceSteps> shown_steps(const AppState& state);
// The step of the current time among them; nothing if there is none.
std::optional<std::size_t> current_step(const AppState& state);

}  // namespace hbmscope::gui
