#include "analysis/trace/moment.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/model/time_unit.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/mark_phase.h"
#include "analysis/trace/same_process.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

std::vector<std::uint64_t> end_positions(const Trace& trace) {
  std::vector<std::uint64_t> positions;
  for (const Stream& stream : trace.streams) positions.push_back(stream.end_position());
  return positions;
}

// Maps a time of one stream to another's clock. Streams without clock records are assumed to share one.
std::int64_t time_on(const Stream& from, std::int64_t time_ns, const Stream& to) {
  return &from == &to ? time_ns : from.clocks().time_on(to.clocks(), time_ns).value_or(time_ns);
}

// The position of every stream at a time on the clock of one of them. Those that can't be placed, because one of both
// has no times, are at their end.
std::vector<std::uint64_t> positions_at_time(const Trace& trace, const Stream& reference, std::int64_t time_ns) {
  std::vector<std::uint64_t> positions;
  for (const Stream& stream : trace.streams)
    positions.push_back(stream.has_times() && reference.has_times()
                            ? stream.position_of_time(time_on(reference, time_ns, stream))
                            : stream.end_position());
  return positions;
}

// ", 2026-11-21 13:20:11.123456 UTC", or nothing if the stream does not report the time of day.
std::string time_of_day(const Stream& stream, std::int64_t time_ns) {
  const auto realtime_ns = stream.clocks().realtime_of(time_ns);
  return realtime_ns ? ", " + text_from_realtime(*realtime_ns) : std::string();
}

// Positions count every event record, including markers and counters.
std::string text_from_place(const Stream& stream, std::uint64_t position) {
  return fmt::format("event {} of {}", exact_text_from_count(signed_from(position)),
                     exact_text_from_count(signed_from(stream.end_position())));
}

// For the event's own stream the position is exact; the other streams are placed by their clocks.
Moment moment_of_event(const Trace& trace, std::size_t stream, std::uint64_t position, std::int64_t time_ns,
                       std::string_view name) {
  Moment moment;
  moment.positions =
      trace.streams.size() == 1 ? end_positions(trace) : positions_at_time(trace, trace.streams[stream], time_ns);
  moment.positions[stream] = position;
  moment.name = name;
  moment.stream = stream;
  if (trace.streams[stream].has_times()) moment.since_start_ns = trace.streams[stream].since_start_ns(time_ns);
  moment.text = fmt::format("{} ({}", name, text_from_place(trace.streams[stream], position));
  if (trace.streams[stream].has_times())
    moment.text += ", " + text_from_moment_ns(trace.streams[stream].since_start_ns(time_ns));
  moment.text += time_of_day(trace.streams[stream], time_ns) + ")";
  return moment;
}

// Considers only the heaps that make up the total: no host memory next to a device's, no view of another heap's bytes.
Result<Moment> find_peak(const Trace& trace) {
  std::size_t best_stream = 0;
  HeapPeak best;
  const auto counted = find_counted_heaps(trace);
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    for (const HeapInfo& heap : trace.streams[i].definitions().heaps()) {
      const HeapPeak peak = trace.streams[i].peak(heap.id);
      if (!counted[i][heap.id] || peak.in_use_bytes <= best.in_use_bytes) continue;
      best = peak;
      best_stream = i;
    }
  if (best.in_use_bytes == 0)
    return Failure(
        refusal("there is no peak: no heap of this trace ever had memory in use", "Leave --at out for the end."));
  return moment_of_event(trace, best_stream, best.position, best.time_ns, "the peak");
}

enum class Which : std::uint8_t { first, last };

// Whether the job's memory at a failure of this stream is better seen in another one: a log reports a failure that a
// snapshot or recording of the same process has too.
bool is_seen_elsewhere(const Trace& trace, std::size_t stream, const FailureEvent& failure) {
  if (trace.stream_processes.empty() || trace.streams[stream].has_times()) return false;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    if (i == stream || trace.stream_processes[i] != trace.stream_processes[stream]) continue;
    if (!trace.streams[i].has_times()) continue;
    const auto& failures = trace.streams[i].failures();
    for (std::size_t j = 0; j < failures.size(); ++j)
      if (failures[j].is_out_of_memory && is_about(failures[j].requested_bytes, failure.requested_bytes)) return true;
  }
  return false;
}

Result<Moment> find_out_of_memory(const Trace& trace, Which which) {
  std::vector<FailedRequest> requests = find_failed_requests(trace);
  if (requests.empty()) requests = find_failed_requests(trace, ExtraPools::only);
  if (requests.empty())
    return Failure(refusal("this trace has no out-of-memory error", "Use --at peak, or remove --at for the end."));
  const FailedRequest& found = which == Which::first ? requests.front() : requests.back();
  const FailureEvent& failure = trace.streams[found.stream].failures()[found.index];
  return moment_of_event(trace, found.stream, failure.event, failure.time_ns,
                         which == Which::first ? "the first failure" : "the last failure");
}

// Where the first marker of that name begins; ends are no times that somebody names.
std::optional<Moment> find_marker(const Trace& trace, std::string_view name) {
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    for (const Mark& mark : stream.marks())
      if (mark.phase != mark_phase::ends && stream.definitions().text(mark.name) == name)
        return moment_of_event(trace, i, mark.event, mark.time_ns, std::string(name));
  }
  return std::nullopt;
}

std::optional<std::int64_t> parse_time_ns(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const auto unit_ns = find_time_unit_ns(unit.empty() ? "s" : unit);  // The same units as for all durations.
  if (!unit_ns || number * *unit_ns >= 9e18) return std::nullopt;
  return static_cast<std::int64_t>(number * *unit_ns);
}

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<Moment> find_event(const Trace& trace, std::string_view stream_number, std::string_view number) {
  auto position = parse_whole(number);
  // More digits than any event number has: out of range, like a position one past the end.
  if (!position && !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos)
    position = std::numeric_limits<std::uint64_t>::max();
  if (!position) return Failure(refusal(fmt::format("'#{}' is not an event number", number), "Write --at '#4711'."));
  if (stream_number.empty() && trace.streams.size() != 1)
    return Failure(refusal("this trace has several streams, each with its own numbers",
                           "Name the stream too, as in --at '2#4711', or a time, peak, oom or end."));
  const auto named = stream_number.empty() ? std::optional<std::uint64_t>(1) : parse_whole(stream_number);
  if (!named || *named == 0 || *named > trace.streams.size())
    return Failure(
        refusal(fmt::format("there is no stream '{}': the trace has {}", stream_number, trace.streams.size()),
                "Streams count from 1."));
  return find_moment(trace, *named - 1, *position);
}

}  // namespace

std::int64_t time_of(const Stream& stream, const StreamState& state) {
  if (state.position() == 0) return stream.zero_ns();
  const auto& failures = stream.failures();
  const auto next = std::lower_bound(failures.begin(), failures.end(), state.position(),
                                     [](const FailureEvent& one, std::uint64_t at) { return one.event < at; });
  return next != failures.end() && next->event == state.position() ? next->time_ns : state.time_ns();
}

std::string text_from_position(const Trace& trace, std::size_t stream, std::uint64_t position) {
  return trace.streams.size() == 1 ? fmt::format("#{}", position) : fmt::format("{}#{}", stream + 1, position);
}

Result<Moment> find_moment(const Trace& trace, std::size_t stream_index, std::uint64_t position,
                           std::optional<std::int64_t> since_start_ns) {
  const Stream& stream = trace.streams[stream_index];
  if (!stream.has_times()) since_start_ns.reset();
  if (position > stream.end_position())
    return Failure(refusal(
        fmt::format("there is no event {}: the trace has {}, including markers", position, stream.end_position()),
        "Use one of them, or a time."));
  Moment moment;
  if (trace.streams.size() > 1) {
    const std::int64_t time_ns =
        since_start_ns ? clamped_sum(stream.zero_ns(), *since_start_ns) : time_of(stream, stream.state_at(position));
    moment = moment_of_event(trace, stream_index, position, time_ns, fmt::format("stream {}", stream_index + 1));
    moment.name.clear();
    return moment;
  }
  moment.positions = {position};
  moment.text = text_from_place(stream, position);
  moment.since_start_ns = since_start_ns;
  return moment;
}

std::vector<FailedRequest> find_failed_requests(const Trace& trace, ExtraPools extra) {
  std::vector<FailedRequest> found;
  for (std::size_t stream = 0; stream < trace.streams.size(); ++stream) {
    const auto& failures = trace.streams[stream].failures();
    for (std::size_t i = 0; i < failures.size(); ++i) {
      if (!failures[i].is_out_of_memory || is_seen_elsewhere(trace, stream, failures[i])) continue;
      const bool is_extra = is_of_extra_pool(trace.streams[stream], failures[i]);
      if (is_extra == (extra == ExtraPools::only)) found.push_back({stream, i});
    }
  }
  if (trace.streams.size() == 1) return found;  // In order.
  // On the clock of the first stream that has times; without times in the order of streams, last.
  const Stream* reference = nullptr;
  std::vector<std::pair<std::int64_t, FailedRequest>> by_time;
  for (const FailedRequest& one : found) {
    const Stream& stream = trace.streams[one.stream];
    if (reference == nullptr && stream.has_times()) reference = &stream;
    by_time.emplace_back(stream.has_times() ? time_on(stream, stream.failures()[one.index].time_ns, *reference)
                                            : std::numeric_limits<std::int64_t>::max(),
                         one);
  }
  std::stable_sort(by_time.begin(), by_time.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(by_time.begin(), by_time.end(), found.begin(), [](const auto& one) { return one.second; });
  return found;
}

std::string text_from_moment(const Moment& moment) {
  return "at " + moment.text;
}

Result<Moment> find_moment(const Trace& trace, std::string_view text) {
  if (trace.streams.empty()) return Failure(refusal("this trace has no stream", {}));
  Moment moment;
  if (text.empty() || text == "end") {
    moment.positions = end_positions(trace);
    moment.text = moment.name = "the end";
    return moment;
  }
  if (text == "start") {
    moment.positions.assign(trace.streams.size(), 0);
    moment.text = "the start, before the first event";
    moment.name = "the start";
    return moment;
  }
  if (text == "peak") return find_peak(trace);
  if (text == "oom") return find_out_of_memory(trace, Which::last);
  if (text == "first-oom") return find_out_of_memory(trace, Which::first);
  // "#4711" and "2#4711" are events; "ProfilerStep#3" is a marker.
  if (const std::size_t mark = text.find('#'); mark != std::string_view::npos) {
    const std::string_view stream = text.substr(0, mark), event = text.substr(mark + 1);
    const bool is_event = (stream.empty() || parse_whole(stream)) && parse_whole(event);
    if (!is_event)
      if (auto found = find_marker(trace, text)) return std::move(*found);
    return find_event(trace, stream, event);
  }
  const auto since = parse_time_ns(text);
  if (!since)
    if (auto found = find_marker(trace, text)) return std::move(*found);
  if (!since)
    return Failure(refusal(
        fmt::format("'{}' is not a time", text),
        "Write start, end, peak, oom, first-oom, a time since the first event such as 12.5s or 300ms, #EVENT, or "
        "the name of a marker."));
  if (std::none_of(trace.streams.begin(), trace.streams.end(), [](const Stream& s) { return s.has_times(); }))
    return Failure(refusal("this file has no times", "Name an event: --at '#4711'."));
  const auto reference =
      std::find_if(trace.streams.begin(), trace.streams.end(), [](const Stream& s) { return s.has_times(); });
  const std::int64_t time_ns = clamped_sum(reference->zero_ns(), *since);
  moment.positions = positions_at_time(trace, *reference, time_ns);
  moment.since_start_ns = *since;
  const bool has_unit = text.find_first_not_of("0123456789.eE+-") != std::string_view::npos;
  moment.text =
      fmt::format("{}{} after the first event{}", text, has_unit ? "" : "s", time_of_day(*reference, time_ns));
  std::int64_t last_ns = reference->last_time_ns();
  for (const Stream& stream : trace.streams)
    if (stream.has_times()) last_ns = std::max(last_ns, time_on(stream, stream.last_time_ns(), *reference));
  if (time_ns > last_ns)
    moment.text +=
        ", after the last event, at " + text_from_moment_ns(clamped_difference(last_ns, reference->zero_ns()));
  return moment;
}

std::vector<StreamState> compute_states(const Trace& trace, const Moment& moment) {
  std::vector<StreamState> states;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    StreamState& state = states.emplace_back(stream.state_at(moment.positions[i]));
    if (!stream.has_times()) continue;
    state.wait_until(moment.since_start_ns ? clamped_sum(stream.zero_ns(), *moment.since_start_ns)
                                           : time_of(stream, state));
  }
  return states;
}

}  // namespace hbmscope
