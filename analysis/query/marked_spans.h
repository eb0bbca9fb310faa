// The spans that a program's markers make: from one that begins to the next one that ends with the same name on the
// same device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/chosen_heap.h"
#include "analysis/trace/mark_phase.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

// Calls span(begin, end, depth) for each, in the order of their ends, and last those that don't end, with null; and
// instant(mark) for each other mark. Spans that overlap without being nested (a copy during a computation) have
// different depths; the outermost one's is 0.
template <class Span, class Instant>
void for_each_marked_span(const Stream& stream, const Span& span, const Instant& instant) {
  struct Open {
    const Mark* begin = nullptr;
    int depth = 0;
  };
  std::map<std::uint32_t, std::vector<Open>> by_device;
  for (const Mark& mark : stream.marks()) {
    std::vector<Open>& open = by_device[mark.device];
    if (mark.phase == mark_phase::begins) {
      int depth = 0;
      while (std::any_of(open.begin(), open.end(), [&](const Open& one) { return one.depth == depth; })) ++depth;
      open.push_back({&mark, depth});
    } else if (mark.phase == mark_phase::ends) {
      const auto last =
          std::find_if(open.rbegin(), open.rend(), [&](const Open& one) { return one.begin->name == mark.name; });
      if (last == open.rend()) continue;
      span(*last->begin, &mark, last->depth);
      open.erase(std::next(last).base());
    } else {
      instant(mark);
    }
  }
  for (const auto& [device, open] : by_device)
    for (const Open& one : open) span(*one.begin, static_cast<const Mark*>(nullptr), one.depth);
}

// Under which name spans belong together: "layer 3" of every step, as it repeats; "step" of "step 11", "step 12", ...,
// which don't.
class SpanNames {
 public:
  explicit SpanNames(const Stream& stream);
  const std::string& of(const Mark& mark) const { return names_.at(mark.name); }

 private:
  std::map<std::uint32_t, std::string> names_;  // By the mark's.
};

// One of them, and what the largest heap of its device that counts (layers.h) had in use meanwhile; of a marker without
// a device, the largest of its stream.
struct MarkedSpan {
  std::size_t stream = 0;
  const Mark* begin = nullptr;  // Of the stream's marks, like the next one.
  const Mark* end = nullptr;    // Null: it doesn't end.
  HeapKey heap;                 // Empty: the stream has none, and the figures are unknown.
  std::uint64_t begin_bytes = 0, end_bytes = 0, most_bytes = 0;

  // Unknown without an end, or without times.
  std::optional<std::int64_t> length_ns(const Stream& of) const {
    return end == nullptr || !of.has_times() ? std::nullopt : std::optional(end->time_ns - begin->time_ns);
  }
};
// In the order of their beginnings, stream by stream. A pass over the events of each stream that has markers (pass.h).
// Nothing if it was cancelled.
std::optional<std::vector<MarkedSpan>> find_marked_spans(const Trace& trace, PassControl* control);

}  // namespace hbmscope
