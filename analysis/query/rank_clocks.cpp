#include "analysis/query/rank_clocks.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

std::uint64_t distance(std::int64_t a, std::int64_t b) {
  const std::uint64_t from = static_cast<std::uint64_t>(std::min(a, b));
  return static_cast<std::uint64_t>(std::max(a, b)) - from;
}

void take_larger(std::optional<std::uint64_t>& most, std::uint64_t value) {
  most = std::max(most.value_or(0), value);
}

bool has_time_of_day(const ClockTable& clocks) {
  return std::any_of(clocks.readings().begin(), clocks.readings().end(),
                     [](const ClockReading& reading) { return reading.realtime_ns != 0; });
}

// What the stream's clock gained or lost on the time of day between two readings.
void add_drift(const ClockTable& clocks, std::optional<std::uint64_t>& most) {
  const ClockReading* last = nullptr;
  for (const ClockReading& reading : clocks.readings()) {
    if (reading.realtime_ns == 0) continue;
    if (last != nullptr) {
      const auto own = static_cast<std::uint64_t>(reading.time_ns) - static_cast<std::uint64_t>(last->time_ns);
      const std::uint64_t shared = reading.realtime_ns - last->realtime_ns;
      take_larger(most, distance(static_cast<std::int64_t>(own), static_cast<std::int64_t>(shared)));
    }
    last = &reading;
  }
}

ClockTable with_one_clock(const ClockTable& clocks, std::uint64_t ClockReading::*left_out) {
  ClockTable table;
  for (ClockReading reading : clocks.readings()) {
    reading.*left_out = 0;
    table.add(reading);
  }
  return table;
}

// On one machine the time of day and the processors' counter should lead to the same instant.
void add_disagreement(const ClockTable& from, const ClockTable& to, std::optional<std::uint64_t>& most) {
  const auto by_day =
      ClockBridge::find(with_one_clock(from, &ClockReading::tsc), with_one_clock(to, &ClockReading::tsc));
  const auto by_counter = ClockBridge::find(with_one_clock(from, &ClockReading::realtime_ns),
                                            with_one_clock(to, &ClockReading::realtime_ns));
  if (!by_day || !by_counter) return;
  for (const ClockReading& reading : {from.readings().front(), from.readings().back()})
    take_larger(most, distance(by_day->time_on_other(reading.time_ns), by_counter->time_on_other(reading.time_ns)));
}

}  // namespace

RankClocks find_rank_clocks(const Trace& trace, std::span<const std::size_t> streams) {
  RankClocks found;
  found.streams = streams.size();
  if (streams.empty()) return found;
  std::set<std::string_view> hosts;
  const Stream& first = trace.streams[streams.front()];
  found.is_time_of_day = has_time_of_day(first.clocks());
  const auto host_of = [](const Stream& stream) { return stream.definitions().job_fact("host"); };
  for (const std::size_t i : streams) {
    const Stream& stream = trace.streams[i];
    hosts.insert(host_of(stream));
    if (&stream != &first && !ClockBridge::find(first.clocks(), stream.clocks())) continue;
    ++found.related;
    found.is_time_of_day = found.is_time_of_day && has_time_of_day(stream.clocks());
    add_drift(stream.clocks(), found.uncertainty_ns);
    if (&stream != &first && !host_of(first).empty() && host_of(first) == host_of(stream))
      add_disagreement(first.clocks(), stream.clocks(), found.uncertainty_ns);
  }
  if (!hosts.contains("")) found.machines = hosts.size();
  if (!found.is_time_of_day) found.uncertainty_ns.reset();
  return found;
}

std::string sentence_of(const RankClocks& clocks) {
  if (clocks.streams < 2) return {};
  if (clocks.related < 2)
    return "Times of different ranks can't be compared: the files have no readings of a common clock.";
  std::string text = fmt::format("Times of {} {} are compared by {}",
                                 clocks.related == clocks.streams ? "the" : fmt::format("{} of the", clocks.related),
                                 text_from_count_of(clocks.streams, "rank"),
                                 clocks.is_time_of_day ? "the time of day" : "the processors' counter");
  if (clocks.uncertainty_ns)
    text += fmt::format(": the clocks agree within {}",
                        text_from_value(signed_from(*clocks.uncertainty_ns), "nanoseconds"));
  else if (clocks.is_time_of_day)
    text += "; how well the clocks agree is unknown";
  text += ".";
  if (clocks.is_time_of_day && clocks.machines.value_or(2) > 1)
    text += clocks.machines
                ? fmt::format(" The ranks ran on {} machines, whose times of day may differ by more.", *clocks.machines)
                : " The times of day of different machines may differ by more.";
  if (clocks.related < clocks.streams) text += " Times of the others can't be compared.";
  return text;
}

}  // namespace hbmscope
