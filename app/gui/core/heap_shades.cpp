#include "app/gui/core/heap_shades.h"

#include <algorithm>
#include <array>

#include "analysis/query/block_match.h"
#include "app/gui/core/block_shades.h"

namespace hbmscope::gui {
namespace {

Shade shade_of_fate(BlockFate fate) {
  switch (fate) {
    case BlockFate::added: return change_shade::added;
    case BlockFate::grown: return change_shade::grown;
    case BlockFate::shrunk: return change_shade::shrunk;
    case BlockFate::moved: return change_shade::moved;
    case BlockFate::gone: return change_shade::gone;
    case BlockFate::unchanged: break;
  }
  return change_shade::same;
}

// Powers of ten: `first` and more is step 1, ten times that is step 2, ...
Shade step_of(std::uint64_t value, std::uint64_t first) {
  Shade step = 0;
  for (std::uint64_t limit = first; step + 1 < static_cast<Shade>(step_count) && value >= limit; limit *= 10) ++step;
  return step;
}

struct ShadeName {
  Shade shade = 0;
  std::string_view name;
  std::string where = {};  // See ShadeEntry.
};

// Gives each block the shade from shade_of(), and makes a legend of the `names` that have blocks.
template <class ShadeOf>
void shade_by(HeapSpans& map, const std::vector<ShadeName>& names, const ShadeOf& shade_of) {
  struct Sum {
    std::uint64_t bytes = 0, blocks = 0;
  };
  std::array<Sum, shade_count> sums{};
  for (HeapSpan& span : map.spans) {
    if (span.kind != SpanKind::block) continue;
    span.shade = shade_of(span);
    sums[span.shade].bytes += span.size;
    ++sums[span.shade].blocks;
  }
  for (const ShadeName& name : names)
    if (const Sum& sum = sums[name.shade]; sum.blocks > 0)
      map.legend.push_back({name.shade, std::string(name.name), sum.bytes, sum.blocks, name.where});
}

// Blocks that were released together with their region have no place in the picture.
void keep_in_regions(HeapSpans& map) {
  std::vector<AddressRange> kept;
  auto region = map.regions.begin();
  for (const AddressRange& range : map.gone) {
    while (region != map.regions.end() && region->range.end <= range.begin) ++region;
    for (auto over = region; over != map.regions.end() && over->range.begin < range.end; ++over)
      kept.push_back(over->range.intersection(range));
  }
  map.gone = std::move(kept);
}

}  // namespace

std::string where_between(std::string_view field, const std::string& first, const std::string& end) {
  std::string where;
  if (!first.empty()) where = std::string(field) + ">=" + first;
  if (!end.empty()) where += (where.empty() ? "" : " ") + std::string(field) + "<" + end;
  return where;
}

void shade_by_name(HeapSpans& map, const ColoringInput& input, const Coloring& coloring) {
  BlockShades shades(input.stream.definitions(), input.labels, coloring, input.colors);
  std::vector<std::size_t> number_of_span(map.spans.size());
  for (std::size_t i = 0; i < map.spans.size(); ++i) {
    const HeapSpan& span = map.spans[i];
    if (span.kind != SpanKind::block) continue;
    number_of_span[i] = shades.number_of(input.state.slots()[span.slot]);
    ShadedName& name = shades.names()[number_of_span[i]];
    name.entry.bytes += span.size;
    name.weight = static_cast<double>(name.entry.bytes);
    ++name.entry.blocks;
  }
  map.legend = shades.legend();
  for (std::size_t i = 0; i < map.spans.size(); ++i)
    if (map.spans[i].kind == SpanKind::block) map.spans[i].shade = shades.names()[number_of_span[i]].entry.shade;
}

void shade_by_steps(HeapSpans& map, const ColoringInput& input, const StepsOfBlocks& steps) {
  std::vector<ShadeName> names;
  for (std::size_t step = 0; step < steps.names.size(); ++step)
    names.push_back({static_cast<Shade>(step), steps.names[step],
                     steps.where_of == nullptr ? std::string() : steps.where_of(step)});
  shade_by(map, names, [&](const HeapSpan& span) { return steps.step_of(input.state.slots()[span.slot]); });
}

// Age is the number of events since the allocation, in powers of ten, so it needs no clock.
void shade_by_age(HeapSpans& map, const ColoringInput& input) {
  const StreamState& state = input.state;
  std::vector<ShadeName> steps{{0, "the last 10 events"}, {1, "the last 100"}, {2, "the last 1,000"},
                               {3, "the last 10,000"},    {4, "older"},        {5, "before the recording"}};
  std::string younger;  // The first event of the next younger step.
  for (std::uint64_t step = 0, limit = 10; step < 5; ++step, limit *= 10) {
    const std::string first = step < 4 && limit < state.position() ? std::to_string(state.position() - limit) : "";
    if (step == 0 || !younger.empty()) steps[step].where = where_between("event", first, younger);
    younger = first;
  }
  shade_by(map, steps, [&](const HeapSpan& span) -> Shade {
    const std::uint64_t event = state.slots()[span.slot].event;
    if (event == wire::before_the_stream || event >= state.position()) return 5;
    const std::uint64_t age = state.position() - event;
    Shade step = 0;
    for (std::uint64_t limit = 10; step < 4 && age > limit; limit *= 10) ++step;
    return step;
  });
}

void shade_by_state(HeapSpans& map, const ColoringInput&) {
  shade_by(map, {{0, "in use", "state=live"}, {1, "freed, still needed by a stream", "state=pending"}},
           [](const HeapSpan& span) { return span.is_pending ? Shade{1} : Shade{0}; });
}

// As a percentage of the block: a few bytes of a small block count as much as a MiB of a large one.
void shade_by_waste(HeapSpans& map, const ColoringInput&) {
  static const std::vector<ShadeName> steps{{0, "no rounding", "waste=0"},
                                            {1, "under 1 %", "waste>0 rounding<1"},
                                            {2, "1 to 5 %", where_between("rounding", "1", "5")},
                                            {3, "5 to 12.5 %", where_between("rounding", "5", "12.5")},
                                            {4, "12.5 to 25 %", where_between("rounding", "12.5", "25")},
                                            {5, "25 % and more", where_between("rounding", "25", "")}};
  shade_by(map, steps, [](const HeapSpan& span) -> Shade {
    if (span.waste == 0) return 0;
    const double share = static_cast<double>(span.waste) / static_cast<double>(span.size);
    constexpr std::array<double, 4> borders{0.01, 0.05, 0.125, 0.25};
    return static_cast<Shade>(1 + (std::upper_bound(borders.begin(), borders.end(), share) - borders.begin()));
  });
}

void shade_by_lifetime(HeapSpans& map, const ColoringInput& input) {
  const StreamState& state = input.state;
  const ColoringFacts& facts = input.facts;
  const bool in_time = input.stream.has_times();
  std::vector<Shade> by_slot(state.slot_count(), several_shade);
  for (const LiveRow& row : facts.live) {
    if (row.stream != facts.stream || row.end_event == LiveRow::no_event) continue;
    const LiveBlock block = state.slots()[row.slot];
    if (block.event == wire::before_the_stream) continue;
    if (!in_time) {
      by_slot[row.slot] = step_of(row.end_event - std::min(row.end_event, block.event), 10);
    } else if (row.allocated_ns != LiveRow::no_time && row.end_ns != LiveRow::no_time) {
      constexpr std::uint64_t ms = 1'000'000;
      by_slot[row.slot] =
          step_of(static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.end_ns - row.allocated_ns)), ms);
    }
  }
  static const std::vector<ShadeName> of_time{{0, "under 1 ms", where_between("lifetime", "", "1ms")},
                                              {1, "1 to 10 ms", where_between("lifetime", "1ms", "10ms")},
                                              {2, "10 to 100 ms", where_between("lifetime", "10ms", "100ms")},
                                              {3, "100 ms to 1 s", where_between("lifetime", "100ms", "1s")},
                                              {4, "1 to 10 s", where_between("lifetime", "1s", "10s")},
                                              {5, "10 s and more", where_between("lifetime", "10s", "")},
                                              {several_shade, "unknown: alive at the end, or older than the trace"}};
  static const std::vector<ShadeName> of_events{{0, "under 10 events"},
                                                {1, "10 to 100"},
                                                {2, "100 to 1,000"},
                                                {3, "1,000 to 10,000"},
                                                {4, "10,000 to 100,000"},
                                                {5, "100,000 events and more"},
                                                {several_shade, "unknown: alive at the end, or older than the trace"}};
  shade_by(map, in_time ? of_time : of_events, [&](const HeapSpan& span) { return by_slot[span.slot]; });
}

void shade_by_change(HeapSpans& map, const ColoringInput& input) {
  const StreamState& state = input.state;
  std::vector<Shade> by_slot(state.slot_count(), change_shade::same);
  ShadeEntry gone{change_shade::gone, "gone", 0, 0};
  std::vector<bool> counts(input.stream.definitions().heaps().size(), false);
  counts[input.heap] = true;
  match_blocks(*input.facts.pinned, state, counts, [&](const LiveBlock& was, const LiveBlock& is) {
    const BlockFate fate = fate_of(was, is);
    if (is.is_live()) by_slot[is.slot] = shade_of_fate(fate);
    // The place that a moved block left is also empty.
    if (fate != BlockFate::gone && fate != BlockFate::moved) return;
    if (was.size > 0 && was.has_address()) map.gone.push_back({was.address, was.address + was.size});
    if (fate != BlockFate::gone) return;
    gone.bytes += was.size;
    ++gone.blocks;
  });
  std::sort(map.gone.begin(), map.gone.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  keep_in_regions(map);
  static const std::vector<ShadeName> names{{change_shade::added, "new"},
                                            {change_shade::grown, "grown"},
                                            {change_shade::moved, "moved here"},
                                            {change_shade::shrunk, "shrunk"},
                                            {change_shade::same, "same"}};
  shade_by(map, names, [&](const HeapSpan& span) { return by_slot[span.slot]; });
  if (gone.blocks > 0) map.legend.push_back(gone);
}

}  // namespace hbmscope::gui
