#include "app/gui/views/timeline/draw_timeline_tooltips.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/query/event_times.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/block_actions.h"
#include "app/gui/core/block_table.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/drawing.h"
#include "app/gui/views/timeline/draw_timeline_marks.h"

namespace hbmscope::gui {
namespace {

std::string band_text(const Band& band) {
  if (band.least == band.most) return text_from_bytes(band.most);
  const TextPair pair = texts_from_bytes(static_cast<std::int64_t>(band.least), static_cast<std::int64_t>(band.most));
  return pair.first + " to " + pair.second;
}
std::string share_text(const ShareBand& band) {
  if (!band.is_defined()) return "–, nothing is free";
  const std::string least = text_from_fraction(band.least), most = text_from_fraction(band.most);
  return least == most ? most : least + " to " + most;
}

// The band under the pointer.
void draw_band_words(const TimelineFrame& frame, int pixel, const std::optional<DeviceRow>& row) {
  const float y = ImGui::GetIO().MousePos.y;
  const auto say = [&](const Lane& lane, const StackedBands* bands) {
    if (bands == nullptr || !lane.holds(y)) return;
    if (pixel >= bands->known_pixels()) return text("What holds it here is still being computed.");
    const auto shade = bands->shade_at(pixel, lane.value_at(y));
    if (!shade) return;
    const Composition& column = bands->pixels()[static_cast<std::size_t>(pixel)];
    text(bands->name_of(*shade) + "  " + text_from_bytes(column.bytes[*shade]));
  };
  say(frame.picture.memory, frame.bands());
  if (row && row->bands.is_known()) {
    text(row->device.name + ", in use " + text_from_bytes(row->bands.pixels()[static_cast<std::size_t>(pixel)].total));
    say(row->lane, &row->bands);
  }
  const auto tiers = tiers_of(frame);
  for (std::size_t i = 0; i < std::min(tiers.size(), frame.picture.heaps.size()); ++i)
    say(frame.picture.heaps[i], tiers[i]);
}

// The step under the pointer, and what is laid over it.
void draw_step_words(const TimelineFrame& frame, float x) {
  const double axis = frame.picture.axis_of(x + 0.5F);
  if (frame.overlay != nullptr)
    if (const auto other = frame.overlay->at(axis)) text(frame.overlay->what.words + ": " + band_text(*other));
  if (frame.steps == nullptr) return;
  const auto step = frame.steps->find(frame.picture.position_after(frame.pixel_of(x)));
  const auto growth = step ? frame.steps->growth_of(*step) : std::nullopt;
  if (!growth) return;
  const TimelineSpan span = frame.steps->span_of(*step);
  if (axis < static_cast<double>(span.begin)) return;  // It begins later, though no event lies in between.
  text(std::string(frame.steps->steps[*step].name) + ", " + length_text(frame.whole.has_times, span) +
       " long: " + delta_text_from_bytes(*growth) + " at its end");
}

// How long the ranges with that name are, of those that are seen one by one.
void draw_ranges_of_name(const TimelineFrame& frame, const std::string& name) {
  std::int64_t count = 0, sum = 0, longest = 0;
  const TimelineColumns& source = frame.picture.source;
  for (const TimelineMarker& one : source.stretches) {
    if (one.count > 1 || one.name != name || one.begin < 0 || one.end > 1) continue;
    const std::int64_t length = std::llround(source.axis_at(one.end) - source.axis_at(one.begin));
    ++count;
    sum += length;
    longest = std::max(longest, length);
  }
  if (count < 2) return;
  const auto length = [&](std::int64_t one) { return length_text(frame.whole.has_times, {0, one}); };
  text(fmt::format("{} of this name here: {} on average, at most {}, together {}", text_from_count(count),
                   length(sum / count), length(longest), length(sum)));
}

// Of the block under the pointer, looked up once. Beyond the picture its free is searched for, but not for long.
const TimelineLife& life_of(const TimelineFrame& frame, const StackBlocks& blocks, std::uint32_t index) {
  constexpr std::uint64_t events_max = 2'000'000;
  const LiveBlock& block = blocks.blocks()[index];
  const Stream& stream = frame.state.source()->trace->streams[frame.whole.heap.stream];
  TimelineLife& life = frame.view.life;
  const StackedBands& bands = frame.view.bands;
  const std::uint64_t seen_until = bands.pixels().back().position;
  if (life.event == block.event && life.address == block.address && life.seen_until == seen_until &&
      life.trace.lock() == frame.state.source()->trace)
    return life;
  life = {block.event, block.address, seen_until, {}, {}, frame.state.source()->trace};
  const bool is_early = block.event == wire::before_the_stream;
  WantedEvents<int> wanted{{block.event, 0}};
  if (!is_early)
    find_event_times(stream, wanted, nullptr,
                     [&](int, std::int64_t time_ns) { life.since_start_ns = stream.since_start_ns(time_ns); });
  if (const auto& end = blocks.end_of(index)) {
    life.freed = FreeFound{end->event, end->time_ns, end->event};
  } else {
    const std::uint64_t first = bands.pixels().front().position;
    life.freed = find_free(stream, block.slot, is_early ? first : std::max(first, block.event), seen_until, events_max);
  }
  return life;
}

// "allocated at 5.021 s, freed at 5.222 s (after 201 ms)".
std::string life_text(const TimelineFrame& frame, const StackBlocks& blocks, std::uint32_t index) {
  const LiveBlock& block = blocks.blocks()[index];
  const TimelineLife& life = life_of(frame, blocks, index);
  const Stream& stream = frame.state.source()->trace->streams[frame.whole.heap.stream];
  const bool has_times = frame.whole.has_times, is_early = block.event == wire::before_the_stream;
  const std::int64_t apart = apart_ns(frame.state, frame.whole);
  const auto text_at = [&](std::int64_t axis) {
    return has_times ? text_from_moment_ns(axis, apart) : "event " + text_from_count(axis);
  };
  const auto begin =
      has_times || is_early ? life.since_start_ns : std::optional(static_cast<std::int64_t>(block.event));
  const std::string words = begin ? "allocated at " + text_at(*begin) : "there before the trace begins";
  if (!life.freed) return words + ", not freed before this picture ends";
  if (!life.freed->event)
    return words + (life.freed->searched >= stream.end_position()
                        ? ", not freed"
                        : ", not freed before event " + text_from_count(life.freed->searched));
  const std::int64_t end =
      has_times ? stream.since_start_ns(life.freed->time_ns) : static_cast<std::int64_t>(*life.freed->event);
  return words + ", freed at " + text_at(end) +
         (begin && has_times ? " (after " + text_from_duration_ns(end - *begin) + ")" : "");
}

}  // namespace

void draw_strip_tooltip(const TimelineFrame& frame, double at) {
  const TimelineColumns& whole = frame.whole;
  if (whole.columns.empty()) return;
  const std::size_t column = TimelineColumns::column_of(whole.share_of_axis(at), whole.columns.size());
  ImGui::BeginTooltip();
  bold_text((whole.has_times ? text_from_moment_ns(std::llround(at)) : "event " + text_from_count(std::llround(at))) +
            ", in use " + band_text(whole.columns[column].in_use));
  dim_text("drag the visible part or its edges, or draw a new one");
  ImGui::EndTooltip();
}

void draw_column_tooltip(const TimelineFrame& frame, float x) {
  const int pixel = frame.pixel_of(x);
  const TimelineColumn& column = frame.picture.pixels[static_cast<std::size_t>(pixel)];
  const std::uint64_t before = frame.picture.position_before(pixel), after = frame.picture.position_after(pixel);
  ImGui::BeginTooltip();
  TimelineColumns axis;
  axis.has_times = frame.whole.has_times;
  axis.span = {std::llround(frame.picture.begin), std::llround(frame.picture.end)};
  const std::uint64_t events = after > before ? after - before : 0;
  // Another device's row has figures of its own.
  const float y = ImGui::GetIO().MousePos.y;
  const bool is_of_shown = frame.picture.devices.empty() || frame.picture.memory.holds(y);
  const auto other = device_under(frame, y);
  const bool has_heap = !frame.whole.heap.empty() && is_of_shown;
  bold_text(axis.text_at((static_cast<double>(x) - static_cast<double>(frame.picture.left) + 0.5) /
                         static_cast<double>(frame.picture.width)) +
            (is_of_shown && events > 0 ? ", " + text_from_count_of(events, "event") : "") +
            (has_heap ? ", in use " + band_text(column.in_use) : std::string()));
  if (has_heap && column.in_use.least == column.in_use.most)
    dim_text(exact_text_from_bytes(static_cast<std::int64_t>(column.in_use.most)));
  if (has_heap && !frame.picture.devices.empty()) text(name_of_device(frame.state, frame.whole.heap));
  const auto target = find_snap_target(frame.picture, frame.look, x);
  if (target && is_of_shown) text("near " + target->words);
  draw_band_words(frame, pixel, other);
  if (!is_of_shown) {
    if (other) dim_text("click to show this device at the shown time, drag to select");
    return ImGui::EndTooltip();
  }
  if (frame.whole.knows_regions)
    text("pool " + band_text(column.pool) + ", largest free block " + band_text(column.largest_free) +
         ", fragmentation " + share_text(column.fragmentation));
  draw_step_words(frame, x);
  for (std::size_t i = 0; i < frame.picture.heaps.size(); ++i) {
    const TimelineHeap& heap = frame.picture.source.heaps[i];
    text(heap.name + " " + band_text(frame.picture.under(heap.columns, pixel)));
  }
  for (std::size_t i = 0; !has_heap && i < frame.picture.counters.size(); ++i) {
    const TimelineCounter& counter = frame.picture.source.counters[i];
    const CounterBand band = frame.picture.under(counter.columns, pixel);
    text(counter.name + ": " + (band.is_defined ? text_from_counter(counter, band.most) : "not reported yet"));
  }
  if (column.is_skipped)
    text("Skipped: these events were not fetched. The figures are the last ones before them.");
  else if (column.is_inexact)
    text("The figures are inexact: events were lost before this time, or contradict each other.");
  const TimelineMarker* range = find_range_marker(frame.picture, frame.look, {x, ImGui::GetIO().MousePos.y});
  if (range != nullptr) {
    const auto axis_at = [&](double share) { return std::llround(frame.picture.source.axis_at(share)); };
    const TimelineSpan span{axis_at(range->begin), axis_at(range->end)};
    const std::string from =
        frame.whole.has_times ? ", from " + text_from_moment_ns(span.begin, apart_ns(frame.state, frame.whole)) : "";
    text(range->name + from + ", " + length_text(frame.whole.has_times, span) + " long");
    if (has_heap && std::isfinite(range->end)) {
      const Stream& stream = frame.state.source()->trace->streams[frame.whole.heap.stream];
      const std::uint32_t heap = frame.whole.heap.heap;
      const auto first = static_cast<std::int64_t>(stream.in_use_at_mark(heap, range->position)),
                 last = static_cast<std::int64_t>(stream.in_use_at_mark(heap, range->end_position));
      text("in use before it " + text_from_bytes(first) + ", left behind " + delta_text_from_bytes(last - first));
    }
    draw_ranges_of_name(frame, range->name);
  }
  const bool is_growth =
      frame.steps != nullptr && frame.picture.growth && frame.picture.growth->holds(ImGui::GetIO().MousePos.y);
  dim_text("up to event " + text_from_count(after) +
           (range != nullptr ? "; click to select the range"
            : is_growth      ? "; click to select the step"
            : target         ? "; click to go to the marker, Alt+click to the last event here"
            : has_heap       ? "; click to go to the most in use here, drag to select"
                             : "; drag to select"));
  ImGui::EndTooltip();
}

void draw_block_tooltip(const TimelineFrame& frame, const StackBlocks& blocks, std::uint32_t index, float x) {
  const LiveBlock& block = blocks.blocks()[index];
  const Trace& trace = *frame.state.source()->trace;
  const std::size_t stream = frame.whole.heap.stream;
  const Definitions& definitions = trace.streams[stream].definitions();
  const BlockActions actions = actions_of(trace, frame.whole.heap, block);
  const auto shade = frame.bands()->shade_at(frame.pixel_of(x), frame.bytes_at(ImGui::GetIO().MousePos.y));
  ImGui::BeginTooltip();
  bold_text(name_of_block(labels_of_stream(frame.state, trace, stream), definitions, block));
  text(actions.size + (shade ? ", " + frame.bands()->name_of(*shade) : std::string()));
  const std::uint64_t requested = block.requested;
  if (requested != wire::unknown_bytes && requested != block.size) text("requested " + text_from_bytes(requested));
  if (block.has_address()) text("at " + actions.address);
  text(life_text(frame, blocks, index));
  for (const std::string& line : stack_lines(definitions, block.stack, 8))
    dim_text(shortened(line, 40 * ImGui::GetFontSize()));
  dim_text("click selects it at this time");
  ImGui::EndTooltip();
}

}  // namespace hbmscope::gui
