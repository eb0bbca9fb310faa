#include "analysis/write/perfetto.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "analysis/query/trace_user_code.h"
#include "analysis/trace/mark_phase.h"
#include "analysis/trace/pass.h"
#include "analysis/trace/stream_names.h"
#include "analysis/write/json_optional.h"
#include "analysis/write/json_text.h"
#include "analysis/write/time_axis.h"

namespace hbmscope {
namespace {

using Json = nlohmann::ordered_json;
using wire::RecordKind;

std::string dumped(const Json& json) {
  return json_with_escaped_controls(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::uint64_t step_of(const Stream& stream, std::uint32_t heap, const PerfettoOptions& options) {
  constexpr std::uint64_t steps_of_peak = 2048;  // Twice the pixel rows of a screen.
  if (options.step_bytes > 0) return options.step_bytes;
  return std::max<std::uint64_t>(1, stream.peak(heap).in_use_bytes / steps_of_peak);
}

// Writes the list of events, with commas between them.
class EventList {
 public:
  explicit EventList(TextPieces& out) : out_(out) {}

  std::string& begin() {
    out_.text() += is_first_ ? "\n" : ",\n";
    is_first_ = false;
    return out_.text();
  }
  void end() { out_.line_is_done(); }
  void add(const Json& event) {
    begin() += dumped(event);
    end();
  }
  bool is_open() const { return out_.is_open(); }

 private:
  TextPieces& out_;
  bool is_first_ = true;
};

class Counter {
 public:
  Counter(std::string name, std::uint64_t step) : head_(std::move(name)), step_(step) {}

  bool is_due(std::uint64_t value) const {
    return !has_point_ || (value > value_ ? value - value_ : value_ - value) >= step_;
  }
  bool is_open_end(std::uint64_t value) const { return has_point_ && value != value_; }
  void write(EventList& list, std::string_view time, std::uint64_t value) {
    fmt::format_to(std::back_inserter(list.begin()), R"({{"ph":"C",{},"ts":{},"args":{{"bytes":{}}}}})", head_, time,
                   value);
    list.end();
    has_point_ = true;
    value_ = value;
  }

 private:
  std::string head_;  // "pid":1,"name":"GPU 0 in use"
  std::uint64_t step_, value_ = 0;
  bool has_point_ = false;
};

class StreamExport {
 public:
  StreamExport(const Stream& stream, std::size_t number, const StreamAxis& axis, const PerfettoOptions& options,
               EventList& list, PassControl& control)
      : stream_(stream), pid_(number + 1), axis_(axis), list_(list), control_(control) {
    const auto head = [&](const HeapInfo& heap, const char* what) {
      return fmt::format(R"("pid":{},"name":{})", pid_, dumped(heap.name + what));
    };
    for (const HeapInfo& heap : stream.definitions().heaps()) {
      const std::uint64_t step = step_of(stream, heap.id, options);
      in_use_.emplace_back(head(heap, " in use"), step);
      pool_size_.emplace_back(head(heap, " pool size"), step);
    }
  }

  bool run(const StreamState& end) {
    // The state before the first event is one point, not one per block.
    const StreamState start = stream_.state_at(0);
    for (std::uint32_t id = 1; id < in_use_.size(); ++id) write_due(id, start, "0");
    const bool is_whole = pass_over_heaps(
        stream_, end.position(), &control_,
        [&](const StreamState& state, const HeapChange& change, const wire::DecodedBlock& block) {
          add_heap(state, change);
          add_event(block, change.place);
        },
        [&](const wire::DecodedBlock& block, const RecordPlace& place) { add_event(block, place); });
    if (!is_whole) return false;
    // Changes that were waiting for a next point.
    const std::string time = time_text(end.time_ns(), end.position());
    for (std::uint32_t id = 1; id < in_use_.size(); ++id) {
      const std::uint64_t in_use = end.in_use_bytes(id);
      if (in_use_[id].is_open_end(in_use)) in_use_[id].write(list_, time, in_use);
      const std::uint64_t pool = end.heap(id).space.region_bytes().value_or(0);
      if (pool_size_[id].is_open_end(pool)) pool_size_[id].write(list_, time, pool);
    }
    return true;
  }

 private:
  void add_heap(const StreamState& state, const HeapChange& change) {
    if (change.position == 0) return;
    const std::uint64_t in_use = state.in_use_bytes(change.heap);
    const auto pool = state.heap(change.heap).space.region_bytes();
    if (in_use_[change.heap].is_due(in_use) || (pool && pool_size_[change.heap].is_due(*pool)))
      write_due(change.heap, state, time_text(change.time_ns, change.position));
    if (!list_.is_open()) control_.cancelled = true;  // A full disk ends the pass like a cancellation.
  }

  void write_due(std::uint32_t id, const StreamState& state, const std::string& time) {
    const std::uint64_t in_use = state.in_use_bytes(id);
    const auto pool = state.heap(id).space.region_bytes();
    if (in_use_[id].is_due(in_use)) in_use_[id].write(list_, time, in_use);
    if (pool && pool_size_[id].is_due(*pool)) pool_size_[id].write(list_, time, *pool);
  }

  void add_event(const wire::DecodedBlock& block, const RecordPlace& place) {
    switch (place.kind) {
      case RecordKind::out_of_memory: {
        const auto& record = block.rows<wire::OutOfMemoryRecord>()[place.row];
        Json args = {{"asked_bytes", record.requested}};
        args["available_bytes"] = record.available == wire::unknown_bytes ? Json(nullptr) : Json(record.available);
        add_instant(place, "Out of memory", record.heap, record.stack, text(record.reason), std::move(args));
        break;
      }
      case RecordKind::driver_refusal: {
        const auto& record = block.rows<wire::DriverRefusalRecord>()[place.row];
        Json args = {{"asked_bytes", record.requested}, {"error", record.error}};
        args["available_bytes"] = record.available == wire::unknown_bytes ? Json(nullptr) : Json(record.available);
        add_instant(place, "Refused by the driver", record.heap, record.stack, text(record.call), std::move(args));
        break;
      }
      case RecordKind::marker: add_mark(block.rows<wire::MarkerRecord>()[place.row], place); break;
      case RecordKind::counter: {
        const auto& record = block.rows<wire::CounterRecord>()[place.row];
        std::string name = text(record.name);
        if (record.heap != 0) name += " of " + stream_.definitions().heap(record.heap).name;
        add_line("C", name, place, {{"args", {{"value", record.value}}}});
        break;
      }
      default: break;
    }
  }

  void add_instant(const RecordPlace& place, const char* name, std::uint32_t heap, std::uint32_t stack,
                   const std::string& reason, Json args) {
    args["heap"] = or_null(stream_.definitions().heap(heap).name);
    args["reason"] = or_null(reason);
    const auto own = find_own_frame(stream_.definitions(), stack);
    args["own_line"] =
        own ? Json(fmt::format("{} {}:{}", text(own->function), text(own->file), own->line)) : Json(nullptr);
    args["event"] = place.event;
    add_line("i", name, place, {{"s", "p"}, {"args", std::move(args)}});
  }

  // Ranges may overlap, so they are asynchronous events, identified by name and device.
  void add_mark(const wire::MarkerRecord& mark, const RecordPlace& place) {
    if (mark.phase != mark_phase::begins && mark.phase != mark_phase::ends)
      return add_line("i", text(mark.name), place, {{"s", "p"}});
    add_line(mark.phase == mark_phase::begins ? "b" : "e", text(mark.name), place,
             {{"cat", "mark"}, {"id", fmt::format("{}.{}.{}", pid_, mark.device, mark.name)}});
  }

  void add_line(const char* phase, const std::string& name, const RecordPlace& place, const Json& more) {
    Json event = {{"ph", phase}, {"pid", pid_}, {"tid", 0}, {"name", name}};
    event["ts"] = nullptr;
    event.update(more);
    // Times are inserted as text: a floating-point number in JSON could lose nanoseconds.
    std::string line = dumped(event);
    const std::string_view hole = R"("ts":null)";
    line.replace(line.rfind(hole), hole.size(), R"("ts":)" + time_text(place.time_ns, place.event + 1));
    list_.begin() += line;
    list_.end();
  }

  // In microseconds, or the event number.
  std::string time_text(std::int64_t time_ns, std::uint64_t position) const {
    if (axis_.kind() == StreamAxis::Kind::no_times) return fmt::format("{}", position);
    const std::uint64_t ns = axis_.since_zero_ns(time_ns);
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
  }
  std::string text(std::uint32_t string) const { return std::string(stream_.definitions().text(string)); }

  const Stream& stream_;
  std::size_t pid_;
  const StreamAxis& axis_;
  EventList& list_;
  PassControl& control_;
  std::vector<Counter> in_use_, pool_size_;  // By heap id.
};

constexpr const char* event_numbers = "number of the event: the source has no times";

const char* text_from_axis(StreamAxis::Kind kind) {
  switch (kind) {
    case StreamAxis::Kind::shared: return "on the axis of all";
    case StreamAxis::Kind::own_clock:
      return "on its own clock, since its own first event: no clock record relates it to the others";
    case StreamAxis::Kind::no_times: return event_numbers;
  }
  return "";
}

// What ts means for the whole trace.
std::string text_from_axes(const std::vector<StreamAxis>& axes) {
  const auto of_kind = [&](StreamAxis::Kind kind) {
    return static_cast<std::size_t>(
        std::count_if(axes.begin(), axes.end(), [&](const StreamAxis& axis) { return axis.kind() == kind; }));
  };
  if (of_kind(StreamAxis::Kind::no_times) == axes.size()) return event_numbers;
  std::string text = "microseconds since the first event";
  if (axes.size() > 1) text += " of all";
  if (of_kind(StreamAxis::Kind::shared) < axes.size()) text += "; not of streams that say otherwise";
  return text;
}

std::string name_of_stream(const Trace& trace, std::size_t stream, const StreamAxis& axis) {
  if (trace.streams.size() == 1) return trace.producer;
  const std::string part = part_of_stream(trace, stream);
  const std::string name = fmt::format("{}, stream {}", part.empty() ? trace.producer : part, stream);
  if (axis.kind() == StreamAxis::Kind::own_clock) return name + " (own clock)";
  return axis.kind() == StreamAxis::Kind::no_times ? name + " (no times)" : name;
}

Json metadata(const Trace& trace, const std::vector<StreamState>& states, const std::vector<StreamAxis>& axes,
              const PerfettoOptions& options) {
  Json steps = Json::array();
  for (std::size_t i = 0; i < states.size(); ++i)
    for (const HeapInfo& heap : trace.streams[i].definitions().heaps())
      if (heap.id != 0)
        steps.push_back(
            {{"stream", i}, {"heap", heap.name}, {"counter_step_bytes", step_of(trace.streams[i], heap.id, options)}});
  Json streams = Json::array();
  for (std::size_t i = 0; i < axes.size(); ++i)
    streams.push_back({{"stream", i}, {"time", text_from_axis(axes[i].kind())}});
  return {{"made_by", "hbmscope"},
          {"source", trace.producer},
          {"files", trace.files},
          {"time", text_from_axes(axes)},
          {"streams", std::move(streams)},
          {"merged", "counter points that differ by less than counter_step_bytes from the last one"},
          {"heaps", std::move(steps)}};
}

}  // namespace

ExportEnd write_perfetto(const Trace& trace, const std::vector<StreamState>& states, const PerfettoOptions& options,
                         const TextSink& sink, PassControl* control) {
  TextPieces out(sink);
  const std::vector<StreamAxis> axes = find_stream_axes(trace);
  out.text() = fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\n\"traceEvents\":[",
                           dumped(metadata(trace, states, axes, options)));
  EventList list(out);
  PassControl own_control;
  PassControl& pass = control == nullptr ? own_control : *control;
  for (const Stream& stream : trace.streams) pass.total_events += stream.end_position();
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::string name = name_of_stream(trace, i, axes[i]);
    list.add({{"ph", "M"}, {"pid", i + 1}, {"name", "process_name"}, {"args", {{"name", name}}}});
    StreamExport writer(trace.streams[i], i, axes[i], options, list, pass);
    const bool is_whole = writer.run(states[i]);
    if (!list.is_open()) return ExportEnd::refused;
    if (!is_whole) return ExportEnd::cancelled;
  }
  out.text() += "\n]}\n";
  return out.flush() ? ExportEnd::whole : ExportEnd::refused;
}

}  // namespace hbmscope
