// The colours of the trace in front, and its bytes by colour over time.
#include "app/gui/core/answers.h"
#include "app/gui/core/filter_text.h"
#include "app/gui/core/questions.h"

namespace hbmscope::gui {
namespace {

struct StackOptions {
  StackQuery query;
  TimelineSpan span;  // Empty: the whole trace.
  bool operator==(const StackOptions&) const = default;
};
struct TierStacksOptions {
  StackQuery query;  // For the shown heap.
  std::vector<std::uint32_t> heaps;
  bool operator==(const TierStacksOptions&) const = default;
};

// A running job's colours change only when its peaks have grown by this much, so that they stay what they are.
constexpr std::uint64_t growth_share = 8;

std::uint64_t sum_of_peaks(const Trace& trace) {
  std::uint64_t sum = 0;
  for (const Stream& stream : trace.streams)
    for (std::uint32_t heap = 1; heap < stream.definitions().heaps().size(); ++heap)
      sum += stream.peak(heap).in_use_bytes;
  return sum;
}

// Equal colours of both sides are one object, so that their answers are, too.
std::shared_ptr<const TraceColors> shared_colors(const AppState& state, TraceColors colors) {
  for (const Context& context : state.contexts)
    if (context.colors && *context.colors == colors) return context.colors;
  return std::make_shared<const TraceColors>(std::move(colors));
}

// While a trace grows, the blocks of each version would need a pass of their own.
void ask_stack_blocks(Answering& asking, const std::shared_ptr<const StackCourse>& course, TimelineSpan seen) {
  constexpr std::uint64_t least_px = 3;
  // Where the y axis is zoomed in far, the blocks of many events would be too many.
  constexpr std::uint64_t events_max = 200'000, parts_max = 2'000;
  const Source* source = asking.state().source();
  const Context& context = asking.state().context();
  if (source->is_part() || context.timeline_width == 0 || context.timeline_height == 0) return;
  const HeapKey heap = course->query().heap;
  const std::uint64_t peak = source->trace->streams[heap.stream].peak(heap.heap).in_use_bytes;
  const StreamPositions positions = positions_of(source->trace->streams[heap.stream], seen);
  const std::uint64_t finest = positions.end - positions.begin > events_max ? peak / parts_max : 1;
  const StackBlocksQuery query{course, seen, context.timeline_width,
                               std::max({std::uint64_t{1}, finest, peak * least_px / context.timeline_height})};
  asking.ask(&Answers::stack_blocks, {source->id, query},
             [trace = source->trace, query](Work& work) -> Computed<StackBlocks> {
               auto made = StackBlocks::compute(*trace, query, &work);
               if (!made) return Failure(cancelled_error());
               auto blocks = std::make_shared<const StackBlocks>(std::move(*made));
               const std::size_t bytes = blocks->memory_bytes();
               return {std::move(blocks), bytes};
             });
}

// Other kinds of memory are small and short programs fill them, so that the buckets of the whole trace are enough.
void ask_tiers(Answering& asking, const StackQuery& query) {
  const auto& timeline = asking.answers().timeline.value;
  if (timeline == nullptr || !(timeline->heap == query.heap)) return;
  std::vector<std::uint32_t> heaps;
  for (const TimelineHeap& heap : timeline->heaps)
    if (heap.is_other_kind) heaps.push_back(heap.heap);
  if (heaps.empty()) return;
  const Source* source = asking.state().source();
  const auto before = asking.answers().tier_stacks.value;
  asking.ask(&Answers::tier_stacks, {source->id, TierStacksOptions{query, heaps}},
             [trace = source->trace, query, heaps, before](Work& work) -> Computed<TierStacks> {
               auto tiers = std::make_shared<TierStacks>();
               std::size_t bytes = 0;
               for (const std::uint32_t heap : heaps) {
                 StackQuery of_tier = query;
                 of_tier.heap.heap = heap;
                 const auto known = before ? before->find(heap) : nullptr;
                 auto made = StackCourse::compute(*trace, of_tier, known.get(), &work);
                 if (!made) return Failure(cancelled_error());
                 bytes += made->memory_bytes();
                 tiers->courses.push_back(std::make_shared<const StackCourse>(std::move(*made)));
               }
               return {std::move(tiers), bytes};
             });
}

struct DeviceStacksOptions {
  StackQuery query;  // For the shown heap.
  bool operator==(const DeviceStacksOptions&) const = default;
};

// Of each device its largest heap that counts, in the order of the devices.
std::vector<DeviceStack> devices_to_show(const Source& source) {
  std::vector<DeviceStack> devices;
  for (const DeviceHeaps& device : source.devices) {
    if (const DeviceHeap* heap = device.largest())
      devices.push_back({heap->key, device.name, heap->peak_bytes, nullptr});
  }
  return devices;
}

void ask_devices(Answering& asking, const StackQuery& query) {
  const Source* source = asking.state().source();
  if (!asking.position().all_devices) return;
  std::vector<DeviceStack> devices = devices_to_show(*source);
  if (devices.size() < 2) return asking.forget(&Answers::device_stacks);
  const auto before = asking.answers().device_stacks.value;
  asking.ask(
      &Answers::device_stacks, {source->id, DeviceStacksOptions{query}},
      [trace = source->trace, query, devices = std::move(devices), before](Work& work) -> Computed<DeviceStacks> {
        auto made = std::make_shared<DeviceStacks>();
        made->trace = trace;
        std::size_t bytes = 0;
        for (DeviceStack device : devices) {
          StackQuery of_device = query;
          of_device.heap = device.heap;
          const StackCourse* known = nullptr;
          if (before)
            for (const DeviceStack& one : before->devices)
              if (one.heap == device.heap) known = one.course.get();
          auto course = StackCourse::compute(*trace, of_device, known, &work);
          if (!course) return Failure(cancelled_error());
          bytes += course->memory_bytes();
          device.course = std::make_shared<const StackCourse>(std::move(*course));
          made->devices.push_back(std::move(device));
        }
        return {std::move(made), bytes};
      });
}

}  // namespace

void ask_colors(Answering& asking) {
  AppState& state = asking.state();
  const Source* source = state.source();
  if (source == nullptr || source->state != AnswerState::ready || !source->trace) return;
  ContextNotes& notes = asking.notes();
  const std::uint64_t peaks = sum_of_peaks(*source->trace);
  const auto& known = asking.answers().color_ranks;
  const bool is_kept = source->live && known.value && peaks <= notes.ranked_bytes + notes.ranked_bytes / growth_share;
  if (!is_kept) {
    notes.ranked_bytes = peaks;
    asking.ask(&Answers::color_ranks, {source->id, {}}, [trace = source->trace](Work& work) -> Computed<ColorRanks> {
      auto ranks = compute_color_ranks(*trace, choose_heap(*trace, {}), work);
      if (!ranks) return Failure(cancelled_error());
      std::size_t bytes = 4096;
      for (const auto& names : ranks->names) bytes += names.size() * 128;
      return {std::make_shared<const ColorRanks>(std::move(*ranks)), bytes};
    });
  }
  Context& context = state.context();
  if (known.value == nullptr) {
    context.colors = nullptr;
    return;
  }
  if (context.colors && notes.colored == known.value) return;
  notes.colored = known.value;
  context.colors = shared_colors(state, state.hues.assign(*known.value));
}

void ask_stack(Answering& asking, HeapKey heap) {
  const Source* source = asking.state().source();
  const Context& context = asking.state().context();
  const auto coloring = shown_coloring(asking.state());
  if (!coloring || heap.empty()) return;
  // The colours of what has been read to its end may be others, and each needs a pass over all events.
  if (!source->is_part() && asking.answers().color_ranks.pending()) return;
  const std::string where = highlight_filter(context.position);
  const StackQuery query{heap, box_coloring(*coloring, *context.colors), context.colors,
                         where.empty() || can_follow_blocks(*source->trace, where) ? where : std::string()};
  const auto computed = [](std::optional<StackCourse> made) -> Computed<StackCourse> {
    if (!made) return Failure(cancelled_error());
    auto course = std::make_shared<const StackCourse>(std::move(*made));
    const std::size_t bytes = course->memory_bytes();
    return {std::move(course), bytes};
  };
  // A trace that grows is continued where its previous version ended, if it has the same colours.
  const auto before = asking.answers().stack.value;
  asking.ask(
      &Answers::stack, {source->id, StackOptions{query, {}}},
      [trace = source->trace, query, before, computed](Work& work) {
        return computed(StackCourse::compute(*trace, query, before.get(), &work));
      },
      WorkerPool::Turn::next);
  ask_tiers(asking, query);
  ask_devices(asking, query);
  // Where the whole trace's buckets are fewer than the pixels, the visible span is computed by itself.
  const auto& whole = asking.answers().stack.value;
  const TimelineSpan& span = asking.position().span;
  if (whole == nullptr || asking.notes().visible.waits_for_rest) return;
  const bool is_enough = span.empty() || whole->is_exact() || whole->buckets_in(span) > 2 * context.timeline_width;
  if (!is_enough)
    asking.ask(&Answers::stack_part, {source->id, StackOptions{query, span}},
               [trace = source->trace, query, span, computed](Work& work) {
                 return computed(StackCourse::compute_span(*trace, query, span, &work));
               });
  const TimelineSpan seen = span.empty() ? whole->span() : span;
  const auto shown = shown_stack(asking.state(), heap, seen);
  if (shown && !(shown->query() == query)) return;
  if (shown && (is_enough || shown->span() == span)) ask_stack_blocks(asking, shown, seen);
}

}  // namespace hbmscope::gui
