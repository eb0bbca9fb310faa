// What is known about one span of a heap, as lines of text for the heap map's tooltip and for Copy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

struct SpanText {
  std::string title;               // The name, else the line of your code, "Free" or "Not identified".
  std::vector<std::string> lines;  // Category and holder, size, requested, state, address, age, your frames.
};
// `labels`: of the heap's stream; null: unknown.
SpanText text_from_span(const HeapMapAnswer& answer, const HeapSpan& span, const BlockLabels* labels = nullptr);

// What the job said of the blocks of a stream. Null: nothing, or it is not known yet.
const BlockLabels* labels_of_stream(const AppState& state, const Trace& trace, std::size_t stream);
// "m.e.weight", else the line of your code that allocated it.
std::string name_of_block(const BlockLabels* labels, const Definitions& definitions, const LiveBlock& block);

// The pool size, of a source that reports it without the pool's regions; at least what is in use. Absent if unknown.
std::optional<std::uint64_t> find_reported_pool(const TraceMoment& moment, HeapKey heap);

// "7.54 GiB of 7.96 GiB in use, 426 MiB free in 231 blocks, the largest 162 MiB."
std::string heap_sentence(const HeapMapAnswer& answer);

// The frames of a stack, "step  optimizer.py:75", from the innermost one of your code outwards; the last line says how
// many more there are.
std::vector<std::string> stack_lines(const Definitions& definitions, std::uint32_t stack, std::size_t most);

FrameKey frame_of_stack(const Definitions& definitions, std::uint32_t stack);
// The frame of your code in the block's stack, as all views select it; empty for free memory and for stacks without
// your code.
FrameKey frame_of_span(const HeapMapAnswer& answer, const HeapSpan& span);

// The offset from the heap's lowest address: "+12.3 GiB".
std::string offset_text(const HeapSpans& map, std::uint64_t address);
std::string address_text(std::uint64_t address);  // "0x7f3a14000000"

// "1.204 s"; "event 26" if the time is unknown.
std::string when_text(std::uint64_t event, const std::optional<std::int64_t>& since_start_ns);
// The same for a time on the stream's clock.
std::string when_text(const Stream& stream, std::uint64_t event, const std::optional<std::int64_t>& time_ns);
// "at the peak (29.705 s, event 7,630 of 13,166)", "at 12.5 s (event 26 of 106)": the end of a sentence about a heap at
// this time. Time and event are those of the heap's own stream; the peak of another stream is only a time.
// Without a heap: of the stream that the time is named after, else that of the heap shown first. Times that far apart
// differ.
std::string phrase_of(const TraceMoment& moment, HeapKey heap = {}, std::int64_t apart_ns = 1'000'000);
std::string short_phrase_of(const TraceMoment& moment, HeapKey heap = {});  // Without the words in parentheses.

}  // namespace hbmscope::gui
