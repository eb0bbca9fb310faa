#include "analysis/trace/moment.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace hbmscope {
namespace {

Failure refusal(std::string what, std::string remedy) {
  return Failure(Error{std::move(what), std::move(remedy), {}, {}, false});
}

std::vector<std::uint64_t> end_positions(const Trace& trace) {
  std::vector<std::uint64_t> positions;
  for (const Stream& stream : trace.streams) positions.push_back(stream.end_position());
  return positions;
}

std::vector<std::uint64_t> positions_at_time(const Trace& trace, std::int64_t time_ns) {
  std::vector<std::uint64_t> positions;
  for (const Stream& stream : trace.streams) positions.push_back(stream.position_of_time(time_ns));
  return positions;
}

// Where one stream's event stands, the others are where their clocks say. Streams of one trace share a clock or have
// none; with a single stream, which most traces have, the position is exact.
Moment moment_of_event(const Trace& trace, std::size_t stream, std::uint64_t position, std::int64_t time_ns,
                       std::string_view name) {
  Moment moment;
  moment.positions = trace.streams.size() == 1 ? end_positions(trace) : positions_at_time(trace, time_ns);
  moment.positions[stream] = position;
  moment.text = fmt::format("{} (after event {} of {}", name, position, trace.streams[stream].end_position());
  if (trace.streams[stream].has_times())
    moment.text +=
        fmt::format(", {:.6f} s",
                    (static_cast<double>(time_ns) - static_cast<double>(trace.streams[stream].first_time_ns())) / 1e9);
  moment.text += ")";
  return moment;
}

Result<Moment> find_peak(const Trace& trace) {
  std::size_t best_stream = 0;
  HeapPeak best;
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    for (const HeapInfo& heap : trace.streams[i].definitions().heaps())
      if (const HeapPeak peak = trace.streams[i].peak(heap.id); peak.in_use_bytes > best.in_use_bytes) {
        best = peak;
        best_stream = i;
      }
  if (best.in_use_bytes == 0)
    return refusal("there is no peak: no heap of this trace ever held anything", "Leave --at out for the end.");
  return moment_of_event(trace, best_stream, best.position, best.time_ns, "the peak");
}

Result<Moment> find_out_of_memory(const Trace& trace) {
  const FailureEvent* last = nullptr;
  std::size_t last_stream = 0;
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    for (const FailureEvent& failure : trace.streams[i].failures()) {
      if (!failure.is_out_of_memory || (last != nullptr && failure.time_ns < last->time_ns)) continue;
      last = &failure;
      last_stream = i;
    }
  if (last == nullptr)
    return refusal("no out-of-memory is in this trace", "Ask for --at peak, or leave --at out for the end.");
  return moment_of_event(trace, last_stream, last->event, last->time_ns, "the last out-of-memory");
}

struct TimeUnit {
  std::string_view name;
  double ns;
};
constexpr TimeUnit time_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};

std::optional<std::int64_t> parse_time_ns(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const TimeUnit& known : time_units)
    if (unit == known.name && number * known.ns < 9e18) return static_cast<std::int64_t>(number * known.ns);
  return std::nullopt;
}

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The time of the last event before a position: what other streams are looked up by.
std::int64_t time_at(const Stream& stream, std::uint64_t position) {
  return position == 0 ? stream.first_time_ns() : stream.state_at(position).time_ns();
}

Result<Moment> find_event(const Trace& trace, std::string_view stream_number, std::string_view number) {
  const auto position = parse_whole(number);
  if (!position) return refusal(fmt::format("'#{}' is no number of an event", number), "Write --at '#4711'.");
  if (stream_number.empty() && trace.streams.size() != 1)
    return refusal("this trace has several streams, each with its own numbers",
                   "Name the stream too, as in --at '2#4711', or a time, peak, oom or end.");
  const auto named = stream_number.empty() ? std::optional<std::uint64_t>(1) : parse_whole(stream_number);
  if (!named || *named == 0 || *named > trace.streams.size())
    return refusal(fmt::format("there is no stream '{}': the trace has {}", stream_number, trace.streams.size()),
                   "Streams count from 1.");
  const Stream& stream = trace.streams[*named - 1];
  if (*position > stream.end_position())
    return refusal(
        fmt::format("there is no event {}: the trace has {}, marks included", *position, stream.end_position()),
        "Name one of them, or a time.");
  if (trace.streams.size() > 1)
    return moment_of_event(trace, *named - 1, *position, time_at(stream, *position),
                           "stream " + std::string(stream_number));
  Moment moment;
  moment.positions = {*position};
  moment.text = fmt::format("after event {} of {}", *position, stream.end_position());
  return moment;
}

}  // namespace

std::string text_from_position(const Trace& trace, std::size_t stream, std::uint64_t position) {
  return trace.streams.size() == 1 ? fmt::format("#{}", position) : fmt::format("{}#{}", stream + 1, position);
}

Result<Moment> find_moment(const Trace& trace, std::string_view text) {
  if (trace.streams.empty()) return refusal("this trace has no stream", {});
  Moment moment;
  if (text.empty() || text == "end") {
    moment.positions = end_positions(trace);
    moment.text = "the end";
    return moment;
  }
  if (text == "start") {
    moment.positions.assign(trace.streams.size(), 0);
    moment.text = "the start, before the first event";
    return moment;
  }
  if (text == "peak") return find_peak(trace);
  if (text == "oom") return find_out_of_memory(trace);
  if (const std::size_t mark = text.find('#'); mark != std::string_view::npos)
    return find_event(trace, text.substr(0, mark), text.substr(mark + 1));
  const auto since = parse_time_ns(text);
  if (!since)
    return refusal(fmt::format("'{}' is no moment", text),
                   "Write start, end, peak, oom, a time since the first event such as 12.5s or 300ms, or #EVENT.");
  if (std::none_of(trace.streams.begin(), trace.streams.end(), [](const Stream& s) { return s.has_times(); }))
    return refusal("this file has no times", "Name an event: --at '#4711'.");
  std::int64_t first = trace.streams.front().first_time_ns();
  for (const Stream& stream : trace.streams) first = std::min(first, stream.first_time_ns());
  constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();
  moment.positions = positions_at_time(trace, first > latest - *since ? latest : first + *since);
  moment.text = fmt::format("{} after the first event", text);
  return moment;
}

std::vector<StreamState> compute_states(const Trace& trace, const Moment& moment) {
  std::vector<StreamState> states;
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    states.push_back(trace.streams[i].state_at(moment.positions[i]));
  return states;
}

}  // namespace hbmscope
