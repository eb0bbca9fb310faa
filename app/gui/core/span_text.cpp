#include "app/gui/core/span_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/query/heap_rows.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"

namespace hbmscope::gui {
namespace {

bool has_addresses(const HeapMapAnswer& answer) {
  return answer.moment->stream(answer.heap).definitions().heap(answer.heap.heap).has(wire::heap_flag::has_addresses);
}

constexpr std::size_t frames_shown = 3;

std::string exact_bytes(std::uint64_t bytes) {
  return exact_text_from_bytes(static_cast<std::int64_t>(bytes));
}
std::string bound_text(const HeapMapAnswer& answer, const HeapSpan* neighbour) {
  if (neighbour == nullptr || neighbour->kind != SpanKind::block) return "the end of the region";
  const LiveBlock block = answer.moment->state_of(answer.heap).slots()[neighbour->slot];
  return user_code_text(answer.moment->stream(answer.heap).definitions(), block.stack) + " (" +
         text_from_bytes(block.size) + ")";
}

void add_own_frames(const Definitions& definitions, std::uint32_t stack, std::vector<std::string>& lines) {
  std::size_t shown = 0;
  for (; stack != 0 && shown < frames_shown; stack = definitions.stack(stack).parent) {
    const auto own = find_own_frame(definitions, stack);
    if (!own) return;
    // Continue from the stack whose innermost frame is this one.
    while (definitions.frame(definitions.stack(stack).frame) != *own) stack = definitions.stack(stack).parent;
    lines.push_back(fmt::format("{} {} {}:{}", shown == 0 ? "by" : "from", definitions.text(own->function),
                                file_title(definitions.text(own->file)), own->line));
    ++shown;
  }
}

std::string change_text(Shade shade) {
  switch (shade) {
    case change_shade::added: return "new since the pinned time";
    case change_shade::grown: return "grown since the pinned time";
    case change_shade::shrunk: return "shrunk since the pinned time";
    case change_shade::moved: return "at another address at the pinned time";
    default: return "alive at the pinned time too";
  }
}

std::string end_text(SpanEnd end) {
  switch (end) {
    case SpanEnd::lower: return "only the lower end can use it: blocks of the upper end are below it";
    case SpanEnd::upper: return "only the upper end can use it: blocks of the lower end are above it";
    case SpanEnd::neither: return "neither end can use it: blocks of both ends are in between";
    case SpanEnd::both: break;
  }
  return "the gap in the middle: either end can use it";
}

// What part of this range was in use at the pinned time.
std::string gone_text(const std::vector<AddressRange>& gone, const HeapSpan& span) {
  auto one = std::partition_point(gone.begin(), gone.end(),
                                  [&](const AddressRange& range) { return range.end <= span.begin; });
  std::uint64_t bytes = 0, blocks = 0;
  for (; one != gone.end() && one->begin < span.end(); ++one, ++blocks)
    bytes += one->intersection({span.begin, span.end()}).size();
  return blocks == 0 ? "free at the pinned time too"
                     : text_from_bytes(bytes) + " of it was in use at the pinned time, by " + text_from_count(blocks) +
                           (blocks == 1 ? " block" : " blocks");
}

// "parameters, held by global of leaky.py"
std::string purpose_text(const BlockLabels& labels, const LiveBlock& block) {
  const Category category = labels.category(block);
  std::string text = category == Category::unknown ? std::string() : std::string(text_from_category(category));
  if (const std::string_view holder = labels.holder(block.event); !holder.empty())
    text += (text.empty() ? "held by " : ", held by ") + std::string(holder);
  return text;
}

void describe_block(const HeapMapAnswer& answer, const HeapSpan& span, const BlockLabels* labels, SpanText& text) {
  const Stream& stream = answer.moment->stream(answer.heap);
  const StreamState& state = answer.moment->state_of(answer.heap);
  const LiveBlock block = state.slots()[span.slot];
  text.title = labels == nullptr ? std::string() : labels->title(block.event);
  if (text.title.empty()) text.title = user_code_text(stream.definitions(), block.stack);
  if (block.tag != 0) text.title += "  " + std::string(stream.definitions().text(block.tag));
  if (labels != nullptr)
    if (std::string purpose = purpose_text(*labels, block); !purpose.empty()) text.lines.push_back(std::move(purpose));
  std::string size = text_from_bytes(block.size) + " (" + exact_bytes(block.size) + ")";
  if (block.requested == wire::unknown_bytes)
    size += ", requested size unknown";
  else if (span.waste > 0)
    size += ", requested " + text_from_bytes(block.requested) + ", rounding " + text_from_bytes(span.waste);
  else
    size += ", no rounding";
  text.lines.push_back(size);
  text.lines.push_back(
      std::string(span.is_pending ? "freed by the program, but a device stream still needs it" : "in use") +
      (block.stream != 0 ? fmt::format(", stream {}", block.stream) : ""));
  const char* end = span.ends == SpanEnd::lower   ? ", from the lower end"
                    : span.ends == SpanEnd::upper ? ", from the upper end"
                                                  : "";
  if (has_addresses(answer))
    text.lines.push_back(address_text(block.address) + ", " + offset_text(answer.spans, block.address) + end);
  if (answer.pinned) text.lines.push_back(change_text(span.shade));
  if (block.event == wire::before_the_stream) {
    text.lines.emplace_back("allocated before the recording began");
  } else {
    text.lines.push_back(fmt::format("allocated at event {}, {} events ago", text_from_count(block.event),
                                     text_from_count(state.position() - std::min(state.position(), block.event))));
  }
  add_own_frames(stream.definitions(), block.stack, text.lines);
}

}  // namespace

std::string address_text(std::uint64_t address) {
  return fmt::format("{:#x}", address);
}

std::string offset_text(const HeapSpans& map, std::uint64_t address) {
  const std::uint64_t lowest = map.regions.empty() ? 0 : map.regions.front().range.begin;
  return "+" + text_from_bytes(address - std::min(address, lowest));
}

std::string when_text(std::uint64_t event, const std::optional<std::int64_t>& since_start_ns) {
  return since_start_ns ? text_from_moment_ns(*since_start_ns) : "event " + text_from_count(event);
}

std::string when_text(const Stream& stream, std::uint64_t event, const std::optional<std::int64_t>& time_ns) {
  return when_text(event, time_ns ? std::optional(stream.since_start_ns(*time_ns)) : std::nullopt);
}

std::string phrase_of(const TraceMoment& moment, HeapKey heap, std::int64_t apart_ns) {
  if (heap.empty())
    heap.stream = moment.moment.stream ? static_cast<std::uint32_t>(*moment.moment.stream)
                                       : choose_heap(*moment.trace, {}).stream;
  const Stream& stream = moment.stream(heap);
  const std::uint64_t position = moment.position(heap);
  const bool is_of_stream = !moment.moment.stream || *moment.moment.stream == heap.stream;
  const FailureEvent* const failed = moment.failure(heap);
  const std::string name = is_of_stream && !moment.moment.name.empty()     ? moment.moment.name
                           : failed != nullptr && failed->is_out_of_memory ? "the failure"
                                                                           : std::string();
  if (name == "the start" || name == "the end") return "at " + name;
  std::string event = fmt::format("event {} of {}", exact_text_from_count(static_cast<std::int64_t>(position)),
                                  exact_text_from_count(static_cast<std::int64_t>(stream.end_position())));
  if (stream.has_times()) {
    const std::string time = text_from_moment_ns(stream.since_start_ns(moment.time_ns(heap)), apart_ns);
    if (name.empty()) return fmt::format("at {} ({})", time, event);
    event = time + ", " + event;
  }
  return name.empty() ? "at " + event : fmt::format("at {} ({})", name, event);
}

std::string short_phrase_of(const TraceMoment& moment, HeapKey heap) {
  const std::string phrase = phrase_of(moment, heap);
  return phrase.substr(0, phrase.find(" ("));
}

FrameKey frame_of_span(const HeapMapAnswer& answer, const HeapSpan& span) {
  if (span.kind != SpanKind::block) return {};
  return frame_of_stack(answer.moment->stream(answer.heap).definitions(),
                        answer.moment->state_of(answer.heap).slots()[span.slot].stack);
}

std::vector<std::string> stack_lines(const Definitions& definitions, std::uint32_t stack, std::size_t most) {
  std::vector<std::string> lines;
  std::size_t left_out = 0;
  const auto own = find_own_frame(definitions, stack);
  bool is_inside = own.has_value();
  for (; stack != 0; stack = definitions.stack(stack).parent) {
    const TraceFrame frame = definitions.frame(definitions.stack(stack).frame);
    is_inside = is_inside && frame != *own;
    // Around your code, frames of an interpreter have no file.
    const bool is_nameless = own && (frame.file == 0 || definitions.text(frame.file) == "??");
    if (!is_inside && !is_nameless && lines.size() < most)
      lines.push_back(frame_text(definitions, frame));
    else
      ++left_out;
  }
  if (left_out > 0) lines.push_back(text_from_count_of(left_out, "more frame"));
  return lines;
}

FrameKey frame_of_stack(const Definitions& definitions, std::uint32_t stack) {
  const auto own = find_own_frame(definitions, stack);
  if (!own) return {};
  return {std::string(definitions.text(own->function)), std::string(definitions.text(own->file)), own->line};
}

const BlockLabels* labels_of_stream(const AppState& state, const Trace& trace, std::size_t stream) {
  const auto& names = state.answers().names.value;
  // Those of an earlier version of a running job are about the same allocations.
  const bool is_of_it = names && names->trace->files == trace.files && stream < names->labels.size();
  return is_of_it ? &names->labels[stream] : nullptr;
}

std::string name_of_block(const BlockLabels* labels, const Definitions& definitions, const LiveBlock& block) {
  if (labels != nullptr)
    if (const std::string_view name = labels->name(block.event); !name.empty()) return std::string(name);
  return user_code_text(definitions, block.stack);
}

SpanText text_from_span(const HeapMapAnswer& answer, const HeapSpan& span, const BlockLabels* labels) {
  SpanText text;
  if (span.kind == SpanKind::block) {
    describe_block(answer, span, labels, text);
    return text;
  }
  text.title = span.kind == SpanKind::free ? "Free" : "Unknown";
  text.lines.push_back(text_from_bytes(span.size) + " (" + exact_bytes(span.size) + ")");
  if (span.kind == SpanKind::not_identified)
    text.lines.emplace_back(
        "This source does not report where the memory of the pool is, so this may be free or in use.");
  text.lines.push_back(address_text(span.begin) + ", " + offset_text(answer.spans, span.begin));
  if (answer.spans.largest_free && &span == &answer.spans.spans[*answer.spans.largest_free])
    text.lines.emplace_back("the largest free block: a larger request does not fit unless the pool grows");
  if (answer.spans.has_two_ends) {
    text.lines.push_back(end_text(span.ends));
    text.lines.emplace_back(
        "XLA divides this pool: default memory is taken from one end, collective memory from the other");
  }
  if (answer.pinned && span.kind == SpanKind::free) text.lines.push_back(gone_text(answer.spans.gone, span));
  const HeapSpan* before = span.begin == 0 ? nullptr : answer.spans.find(span.begin - 1);
  text.lines.push_back("after " + bound_text(answer, before));
  text.lines.push_back("before " + bound_text(answer, answer.spans.find(span.end())));
  return text;
}

std::optional<std::uint64_t> find_reported_pool(const TraceMoment& moment, HeapKey heap) {
  const auto pool = find_reported(moment.stream(heap), reported_figure::pool, heap.heap, moment.position(heap));
  return pool && *pool >= moment.heap(heap).in_use_bytes ? pool : std::nullopt;
}

std::string heap_sentence(const HeapMapAnswer& answer) {
  const HeapState& heap = answer.moment->heap(answer.heap);
  const auto pool = heap.space.region_bytes(), free = heap.space.free_bytes(), largest = heap.space.largest_free();
  std::string text;
  if (pool && free && largest) {
    text = text_from_part_of(heap.in_use_bytes, *pool) + " in use, " + text_from_bytes(*free) + " free";
    if (*free > 0)
      text += " in " + text_from_count(heap.space.free_chunks()) +
              (heap.space.free_chunks() == 1 ? " block" : " blocks, the largest " + text_from_bytes(*largest));
  } else if (const auto reported = find_reported_pool(*answer.moment, answer.heap)) {
    text = text_from_part_of(heap.in_use_bytes, *reported) + " in use, " +
           text_from_bytes(*reported - heap.in_use_bytes) + " free; the largest free block is unknown";
  } else {
    text = text_from_bytes(heap.in_use_bytes) + " in use; free memory unknown";
  }
  if (heap.live_blocks > 0 && !has_addresses(answer))
    text += ". This source has no addresses: the blocks are drawn one after the other, in its order";
  if (heap.pending_bytes > 0)
    text += ", " + text_from_bytes(heap.pending_bytes) + " of it freed, but still needed by a stream";
  text += ".";
  const StreamState& state = answer.moment->state_of(answer.heap);
  if (answer.driver_pools && answer.driver_pools->kept_bytes > 0)
    text += " " + text_from_bytes(answer.driver_pools->kept_bytes) +
            " more is kept by the driver's memory pools, free but not returned.";
  if (state.is_inexact(answer.heap.heap)) {
    const Stream& stream = answer.moment->stream(answer.heap);
    const std::int64_t since_ns = clamped_difference(state.inexact_since_ns(answer.heap.heap), stream.zero_ns());
    text += " Inexact" +
            (stream.has_times() ? " since " + text_from_moment_ns(std::max<std::int64_t>(0, since_ns)) : "") +
            ": events were lost, or contradict each other.";
  }
  if (answer.spans.blocks_not_drawn > 0)
    text += " Not drawn (overlapping, outside the regions, or without an address): " +
            text_from_count_of(signed_from(answer.spans.blocks_not_drawn), "block") + ".";
  return text;
}

}  // namespace hbmscope::gui
