#include "analysis/query/attached_facts.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/trace/layers.h"
#include "analysis/units/format.h"
#include "collector/wire/reported_names.h"

namespace hbmscope {
namespace {

// The driver is queried once a second.
constexpr std::int64_t reported_within_ns = 5'000'000'000;

struct Reported {
  std::uint64_t bytes = 0, position = 0;
  std::int64_t after_ns = 0;
};

// The first figures after the mark, summed over all devices.
std::optional<Reported> find_reported(const Stream& stream, const Mark& mark) {
  std::optional<Reported> reported;
  for (const auto& [key, series] : stream.counters().series()) {
    if (!is_held_by_process(stream.definitions().text(key.first))) continue;
    std::optional<CounterSample> first;
    series.for_each([&](const CounterSample& sample) {
      if (first || sample.event < mark.event) return;
      if (clamped_difference(sample.time_ns, mark.time_ns) <= reported_within_ns) first = sample;
    });
    if (!first || first->value < 0) continue;
    if (!reported) reported = Reported{};
    reported->bytes += static_cast<std::uint64_t>(first->value);
    reported->position = std::max(reported->position, first->event);
    reported->after_ns = std::max(reported->after_ns, clamped_difference(first->time_ns, mark.time_ns));
  }
  return reported;
}

void add_pools(const Stream& stream, AttachedFacts& facts) {
  for (const auto& [key, series] : stream.counters().series()) {
    if (stream.definitions().text(key.first) != wire::bytes_not_identified) continue;
    std::optional<std::int64_t> first;
    std::int64_t last = 0;
    series.for_each([&](const CounterSample& sample) {
      if (!first) first = sample.value;
      last = sample.value;
    });
    if (!first || *first < 0 || last < 0) continue;
    facts.before_in_pools_bytes =
        clamped_sum(facts.before_in_pools_bytes.value_or(0), static_cast<std::uint64_t>(*first));
    facts.not_identified_bytes = clamped_sum(facts.not_identified_bytes, static_cast<std::uint64_t>(last));
  }
}

std::uint64_t in_use_on_devices(const Stream& stream, const std::vector<bool>& counts, std::uint64_t position) {
  const StreamState state = stream.state_at(position);
  std::uint64_t bytes = 0;
  for (const HeapInfo& heap : stream.definitions().heaps())
    if (heap.id < counts.size() && counts[heap.id] && heap.device != wire::no_device)
      bytes += state.in_use_bytes(heap.id);
  return bytes;
}

// Older wording, in recordings from before 2026-11-25.
constexpr std::string_view earlier_calls_are = "the driver's calls are ";
constexpr std::pair<std::string_view, std::string_view> earlier_words[] = {
    {"told by ", wire::recorded_with}, {"not told yet: ", wire::not_recorded_yet}, {"not told: ", wire::not_recorded}};

std::string in_todays_words(std::string_view how) {
  for (const auto& [earlier, today] : earlier_words)
    if (how.starts_with(earlier)) return std::string(today) + std::string(how.substr(earlier.size()));
  return std::string(how);
}

// The last state, and its time if it began after attaching.
void add_driver_calls(const Stream& stream, const Mark& attached, AttachedFacts& facts) {
  std::string_view last;
  std::size_t changes = 0;
  for (const JobFact& fact : stream.definitions().job()) {
    if (fact.key != wire::driver_calls_fact) continue;
    last = fact.value;
    ++changes;
  }
  if (last.empty()) return;
  const std::string how = in_todays_words(last);
  facts.driver_calls = std::string(wire::driver_calls_are) + how;
  facts.are_calls_recorded = how.starts_with(wire::recorded_with);
  facts.may_be_recorded_later = how.starts_with(wire::not_recorded_yet);
  if (changes < 2) return;  // Skips the search below: there may be millions of marks.
  const std::string earlier_sentence = std::string(earlier_calls_are) + std::string(last);
  for (const Mark& mark : stream.marks()) {
    const std::string_view name = stream.definitions().text(mark.name);
    if (mark.event > attached.event && (name == facts.driver_calls || name == earlier_sentence))
      facts.calls_since_ns = clamped_difference(mark.time_ns, attached.time_ns);
  }
}

}  // namespace

std::vector<AttachedFacts> find_attached(const Trace& trace) {
  std::vector<AttachedFacts> all;
  const auto counted = find_counted_heaps(trace);
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    const std::string_view how = stream.definitions().job_fact(wire::attached_fact);
    if (how.empty()) continue;  // The user may have a mark of the same name.
    const bool is_left_alone = how == wire::left_alone;
    const std::string_view name = is_left_alone ? wire::left_alone_mark : wire::attached_mark;
    const auto& marks = stream.marks();
    const auto mark = std::find_if(marks.begin(), marks.end(), [&](const Mark& one) {
      return stream.definitions().text(one.name) == name && one.device == wire::no_device;
    });
    if (mark == marks.end()) continue;
    AttachedFacts& facts = all.emplace_back();
    facts.stream = i;
    facts.is_left_alone = is_left_alone;
    facts.since_start_ns = clamped_difference((*mark).time_ns, stream.zero_ns());
    facts.realtime_ns = stream.clocks().realtime_of((*mark).time_ns);
    const auto reported = find_reported(stream, *mark);
    if (reported) facts.held_bytes = reported->bytes;
    if (reported) facts.reported_after_ns = reported->after_ns;
    add_driver_calls(stream, *mark, facts);
    add_pools(stream, facts);
    facts.identified_bytes = in_use_on_devices(stream, counted[i], reported ? reported->position : (*mark).event + 1);
  }
  return all;
}

std::string text_from_attached(const AttachedFacts& facts) {
  const auto bytes = [](std::uint64_t count) { return text_from_bytes(static_cast<std::int64_t>(count)); };
  std::string text = facts.is_left_alone ? "Watched by its totals" : "Attached";
  if (facts.realtime_ns) text += (facts.is_left_alone ? " since " : " at ") + text_from_realtime(*facts.realtime_ns);
  text += ".";
  const std::string pools =
      facts.before_in_pools_bytes
          ? fmt::format(" Its frameworks' pools had {} in use; {}", bytes(*facts.before_in_pools_bytes),
                        facts.not_identified_bytes == 0 ? std::string("every block has been identified or freed since.")
                                                        : bytes(facts.not_identified_bytes) + " of it is unknown.")
          : std::string();
  if (!facts.held_bytes && facts.before_in_pools_bytes) return text + pools;
  if (!facts.held_bytes)
    return text + " The memory that it held then is unknown" +
           (facts.is_left_alone ? "." : fmt::format("; {} is identified.", bytes(facts.identified_bytes)));
  const std::uint64_t identified = std::min(facts.identified_bytes, *facts.held_bytes);
  text += fmt::format(" {:.1f} s later the process held {} on its devices",
                      static_cast<double>(facts.reported_after_ns) / 1e9, bytes(*facts.held_bytes));
  if (facts.is_left_alone) return text + ".";
  if (facts.before_in_pools_bytes) return text + "." + pools;
  text += "; ";
  if (identified == *facts.held_bytes) return text + "all of it is identified.";
  return text +
         fmt::format("{} of it is identified, {} is not.", bytes(identified), bytes(*facts.held_bytes - identified));
}

std::string text_from_driver_calls(const AttachedFacts& facts) {
  if (facts.driver_calls.empty()) return {};
  std::string text = facts.driver_calls;
  if (!facts.calls_since_ns) return text + ".";
  const std::string since =
      fmt::format("since {:.1f} s after attaching", static_cast<double>(*facts.calls_since_ns) / 1e9);
  if (facts.are_calls_recorded) return text + ", " + since + "; earlier allocations are unknown.";
  constexpr std::string_view are_not = "are not recorded";  // "CUDA driver calls are not recorded: CUPTI is in use"
  if (const std::size_t at = text.find(are_not); at != std::string::npos)
    return text.replace(at, are_not.size(), "have not been recorded " + since) + ".";
  return text + ", " + since + ".";
}

bool is_held_by_process(std::string_view counter) {
  return counter.ends_with(wire::held_by_process_ending);
}

}  // namespace hbmscope
