#include "analysis/query/attached_facts.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/trace/layers.h"
#include "analysis/units/format.h"
#include "collector/wire/told_names.h"

namespace hbmscope {
namespace {

// The driver is asked once a second.
constexpr std::int64_t told_within_ns = 5'000'000'000;

struct Told {
  std::uint64_t bytes = 0, position = 0;
  std::int64_t after_ns = 0;
};

// The first figures that come after the mark, of all devices together.
std::optional<Told> find_told(const Stream& stream, const Mark& mark) {
  std::optional<Told> told;
  for (const auto& [key, series] : stream.counters().series()) {
    if (!stream.definitions().text(key.first).ends_with(wire::held_by_process_ending)) continue;
    std::optional<CounterSample> first;
    series.for_each([&](const CounterSample& sample) {
      if (first || sample.event < mark.event) return;
      if (clamped_difference(sample.time_ns, mark.time_ns) <= told_within_ns) first = sample;
    });
    if (!first || first->value < 0) continue;
    if (!told) told = Told{};
    told->bytes += static_cast<std::uint64_t>(first->value);
    told->position = std::max(told->position, first->event);
    told->after_ns = std::max(told->after_ns, clamped_difference(first->time_ns, mark.time_ns));
  }
  return told;
}

std::uint64_t in_use_on_devices(const Stream& stream, const std::vector<bool>& counts, std::uint64_t position) {
  const StreamState state = stream.state_at(position);
  std::uint64_t bytes = 0;
  for (const HeapInfo& heap : stream.definitions().heaps())
    if (heap.id < counts.size() && counts[heap.id] && heap.device != wire::no_device)
      bytes += state.in_use_bytes(heap.id);
  return bytes;
}

}  // namespace

std::vector<AttachedFacts> find_attached(const Trace& trace) {
  std::vector<AttachedFacts> all;
  const auto counted = find_counted_heaps(trace);
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    if (stream.definitions().job_fact(wire::attached_fact).empty()) continue;  // A mark may be anybody's.
    const auto& marks = stream.marks();
    const auto mark = std::find_if(marks.begin(), marks.end(), [&](const Mark& one) {
      return stream.definitions().text(one.name) == wire::attached_mark && one.device == wire::no_device;
    });
    if (mark == marks.end()) continue;
    AttachedFacts& facts = all.emplace_back();
    facts.stream = i;
    facts.since_start_ns = clamped_difference((*mark).time_ns, stream.first_time_ns());
    facts.realtime_ns = stream.clocks().realtime_of((*mark).time_ns);
    const auto told = find_told(stream, *mark);
    if (told) facts.held_bytes = told->bytes;
    if (told) facts.told_after_ns = told->after_ns;
    facts.identified_bytes = in_use_on_devices(stream, counted[i], told ? told->position : (*mark).event + 1);
  }
  return all;
}

std::string text_from_attached(const AttachedFacts& facts) {
  const auto bytes = [](std::uint64_t count) { return text_from_bytes(static_cast<std::int64_t>(count)); };
  std::string text = facts.realtime_ns ? "Attached at " + text_from_realtime(*facts.realtime_ns) + "." : "Attached.";
  if (!facts.held_bytes)
    return text + fmt::format(" What it held then is not told; {} is identified.", bytes(facts.identified_bytes));
  const std::uint64_t identified = std::min(facts.identified_bytes, *facts.held_bytes);
  text += fmt::format(" {:.1f} s later the process held {} on its devices; ",
                      static_cast<double>(facts.told_after_ns) / 1e9, bytes(*facts.held_bytes));
  if (identified == *facts.held_bytes) return text + "all of it is identified.";
  return text +
         fmt::format("{} of it is identified, {} is not.", bytes(identified), bytes(*facts.held_bytes - identified));
}

}  // namespace hbmscope
