#include "analysis/read/xspace/memory_events.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "analysis/read/open_spans.h"

namespace hbmscope::xspace {
namespace {

// The profiler records no folders. Files of these names are taken for JAX's own, which lie between a program's line
// and the allocator: jax/_src of jax 0.4.38 to 0.10.2.
constexpr std::array<std::string_view, 30> files_of_jax = {
    "abstract_arrays.py", "ad.py",        "api.py",          "api_util.py",       "array.py",
    "array_methods.py",   "batching.py",  "compiler.py",     "config.py",         "core.py",
    "dispatch.py",        "dtypes.py",    "lax.py",          "lax_numpy.py",      "linear_util.py",
    "literals.py",        "mlir.py",      "partial_eval.py", "pjit.py",           "prng.py",
    "profiler.py",        "pxla.py",      "sharding.py",     "sharding_impls.py", "source_info_util.py",
    "traceback_util.py",  "tree_util.py", "ufuncs.py",       "util.py",           "xla_bridge.py"};

std::string_view base_name(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

using protobuf::ByteRange;
using protobuf::bytes_key;
using protobuf::varint_key;
using protobuf::WireCursor;
using protobuf::WireField;
using protobuf::WireProblem;

// No sum of live sizes overflows below it.
constexpr std::uint64_t size_max = std::uint64_t{1} << 46;
constexpr std::int64_t ps_per_ns = 1000;

enum class Figure : std::uint8_t {
  other,
  allocator,
  in_use,
  available,
  requested,
  size,
  address,
  op,
  region,
  shape,
  step,
};

struct FigureName {
  std::string_view name;
  Figure figure;
};
constexpr std::array figure_names = {
    FigureName{"allocator_name", Figure::allocator},
    FigureName{"bytes_allocated", Figure::in_use},
    FigureName{"bytes_available", Figure::available},
    FigureName{"requested_bytes", Figure::requested},
    FigureName{"allocation_bytes", Figure::size},
    FigureName{"addr", Figure::address},
    FigureName{"tf_op", Figure::op},
    FigureName{"region_type", Figure::region},
    FigureName{"shape", Figure::shape},
    FigureName{"step_num", Figure::step},
};

// What the ids of a plane's table stand for. Nearly all are small and consecutive.
template <class Value>
class ById {
 public:
  Value& operator[](std::uint64_t id) {
    if (id >= small_max) return large_[id];
    if (id >= small_.size()) small_.resize(id + 1);
    return small_[id];
  }

 private:
  static constexpr std::uint64_t small_max = 1 << 16;
  std::vector<Value> small_;
  std::unordered_map<std::uint64_t, Value> large_;
};

enum class SpanKind : std::uint8_t { unknown, other, allocation, free };

struct SpanName {
  SpanKind kind = SpanKind::unknown;
  std::uint32_t frame = 0;    // 0: not defined yet.
  std::uint32_t program = 0;  // String, if the span executes a program.
};

struct RawEvent {
  std::uint64_t name = 0;
  std::int64_t offset_ps = 0, duration_ps = 0;
  ByteRange stats;  // From the first one to the end of the message; they are its last fields.
};

[[gnu::always_inline]] inline bool read_event(ByteRange message, RawEvent& event) {
  event = {0, 0, 0, {message.end, message.end}};
  WireCursor cursor(message);
  for (WireField field; cursor.next_field(field);) switch (field.key) {
      case varint_key(1): event.name = field.varint; break;
      case varint_key(2): event.offset_ps = static_cast<std::int64_t>(field.varint); break;
      case varint_key(3): event.duration_ps = static_cast<std::int64_t>(field.varint); break;
      case bytes_key(4): event.stats.begin = cursor.field_begin(); return true;
      default: break;
    }
  return cursor.problem() == WireProblem::none;
}

struct TextsHash {
  std::size_t operator()(const EventTexts& texts) const {
    const std::uint64_t names = std::uint64_t{texts.op} << 32 | texts.shape;
    const std::uint64_t places = std::uint64_t{texts.program} << 32 | texts.region;
    return static_cast<std::size_t>((names * 0x9e3779b97f4a7c15U ^ places) * 0xff51afd7ed558ccdU >> 7);
  }
};

class PlaneReader {
 public:
  PlaneReader(const Plane& plane, std::size_t number, SpanFrames& frames, wire::StreamWriter& writer, Events& events)
      : plane_(plane), number_(number), frames_(frames), writer_(writer), events_(events) {
    for (const auto& [id, name] : plane.stat_names)
      for (const FigureName& each : figure_names)
        if (name == each.name) figures_[id] = each.figure;
    has_steps_ = std::any_of(plane.stat_names.begin(), plane.stat_names.end(),
                             [](const auto& each) { return each.second == "step_num"; });
  }

  void read_line(ByteRange line) {
    line_begin_ns_ = 0;
    const std::size_t memory = events_.memory.size(), steps = events_.steps.size();
    const std::uint64_t events = events_.events, damaged = events_.damaged;
    if (!read_in_file_order(line)) {
      events_.memory.shrink(memory);
      events_.steps.resize(steps);
      events_.events = events;
      events_.damaged = damaged;
      read_sorted(line);
    }
    if (events_.memory.size() > memory) ++events_.threads;
  }

 private:
  // Calls use(event), which returns whether to go on, for each event. False if it stopped.
  template <class Use>
  bool for_each_event(ByteRange line, const Use& use) {
    WireCursor cursor(line);
    for (WireField field; cursor.next_field(field);) {
      if (field.key == varint_key(3)) line_begin_ns_ = static_cast<std::int64_t>(field.varint);
      if (field.key != bytes_key(4)) continue;
      RawEvent event;
      if (!read_event(field.bytes, event) || events_.memory.size() == std::numeric_limits<std::uint32_t>::max())
        ++events_.damaged;
      else if (!use(event))
        return false;
    }
    if (cursor.problem() != WireProblem::none) ++events_.damaged;
    return true;
  }

  // XLA sorts the events of a line. False as soon as one is earlier than the one before it.
  bool read_in_file_order(ByteRange line) {
    open_.clear();
    std::int64_t last_ps = std::numeric_limits<std::int64_t>::min();
    return for_each_event(line, [&](const RawEvent& event) {
      if (event.offset_ps < last_ps) return false;
      last_ps = event.offset_ps;
      take(event);
      return true;
    });
  }

  void read_sorted(ByteRange line) {
    open_.clear();
    std::vector<RawEvent> events;
    for_each_event(line, [&](const RawEvent& event) {
      events.push_back(event);
      return true;
    });
    std::stable_sort(events.begin(), events.end(), [](const RawEvent& a, const RawEvent& b) {
      return a.offset_ps != b.offset_ps ? a.offset_ps < b.offset_ps : a.duration_ps > b.duration_ps;
    });
    for (const RawEvent& event : events) take(event);
  }

  void take(const RawEvent& event) {
    ++events_.events;
    open_.close_before(event.offset_ps);
    SpanName& name = names_[event.name];
    if (name.kind == SpanKind::unknown) name.kind = kind_of(event.name);
    if (name.kind == SpanKind::other) {
      if (event.duration_ps <= 0) return;
      std::int64_t end = 0;
      if (__builtin_add_overflow(event.offset_ps, event.duration_ps, &end)) return;
      open_.open(end, event.name);
      if (has_steps_ && event.stats.begin != event.stats.end) take_step(event, end);
    } else {
      take_memory(event, name.kind == SpanKind::free);
    }
  }

  SpanKind kind_of(std::uint64_t id) const {
    const std::string_view name = text_of_event(id);
    if (name == "MemoryAllocation") return SpanKind::allocation;
    return name == "MemoryDeallocation" ? SpanKind::free : SpanKind::other;
  }

  std::string_view text_of_event(std::uint64_t id) const {
    const auto found = plane_.event_names.find(id);
    return found != plane_.event_names.end() ? found->second : std::string_view();
  }

  template <class Use>
  void for_each_stat(ByteRange stats, const Use& use) {
    WireCursor cursor(stats);
    Stat stat;
    for (WireField field; cursor.next_field(field);) {
      if (field.key != bytes_key(4)) continue;
      if (read_stat(field.bytes, stat))
        use(stat, figures_[stat.name]);
      else
        ++events_.damaged;
    }
    if (cursor.problem() != WireProblem::none) ++events_.damaged;
  }

  // False if the time can't be.
  bool time_of(std::int64_t offset_ps, std::int64_t& time_ns) const {
    return !__builtin_add_overflow(line_begin_ns_, offset_ps / ps_per_ns, &time_ns);
  }

  void take_step(const RawEvent& event, std::int64_t end_ps) {
    for_each_stat(event.stats, [&](const Stat& stat, Figure figure) {
      if (figure != Figure::step || stat.is_reference) return;
      Step step;
      if (!time_of(event.offset_ps, step.begin_ns) || !time_of(end_ps, step.end_ns)) return;
      step.name =
          writer_.define_string(fmt::format("{} {}", text_of_event(event.name), static_cast<std::int64_t>(stat.value)));
      events_.steps.push_back(step);
    });
  }

  void take_memory(const RawEvent& raw, bool is_free) {
    MemoryEvent event;
    event.is_free = is_free;
    std::uint64_t allocator = 0;
    std::uint64_t available = wire::unknown_bytes;
    bool has_size = false;
    EventTexts texts;
    for_each_stat(raw.stats, [&](const Stat& stat, Figure figure) {
      switch (figure) {
        case Figure::allocator: allocator = stat.is_reference ? stat.value : 0; break;
        case Figure::in_use: event.in_use = stat.value; break;
        case Figure::available: available = stat.value; break;
        case Figure::requested: event.requested = stat.value; break;
        case Figure::size:
          event.size = stat.value;
          has_size = true;
          break;
        case Figure::address: event.address = stat.value; break;
        case Figure::op: texts.op = text_of(stat); break;
        case Figure::region: texts.region = text_of(stat); break;
        case Figure::shape: texts.shape = text_of(stat); break;
        case Figure::step:
        case Figure::other: break;
      }
    });
    if (!has_size && event.requested != wire::unknown_bytes) event.size = event.requested;
    if (event.address == 0 || event.size == 0) {
      ++events_.without_address;
      return;
    }
    if (event.in_use > size_max) event.in_use = wire::unknown_bytes;
    // An allocator without a limit, such as that of the CPU, has nothing available.
    if (available <= size_max && event.in_use != wire::unknown_bytes) event.limit = limit_of(available + event.in_use);
    if (event.requested > event.size) event.requested = wire::unknown_bytes;
    if (event.size > size_max || event.address + event.size < event.address || !time_of(raw.offset_ps, event.time_ns)) {
      ++events_.impossible;
      return;
    }
    event.allocator = allocator_of(allocator);
    event.stack = find_stack();
    if (!is_free) {
      texts.program = find_program();
      event.texts = number_of(texts);
    }
    events_.memory.push_back(event);
  }

  std::uint32_t number_of(const EventTexts& texts) {
    if (events_.texts[last_texts_] == texts) return last_texts_;
    const auto [found, is_new] = text_numbers_.try_emplace(texts, static_cast<std::uint32_t>(events_.texts.size()));
    if (is_new) events_.texts.push_back(texts);
    return last_texts_ = found->second;
  }

  // A value that looks like a number is stored as one, whatever it means: the shape "[]" is a text, the operation "7"
  // is not.
  std::uint32_t text_of(const Stat& stat) {
    if (!stat.is_reference) return 0;
    Text& text = texts_[stat.value];
    if (!text.is_defined) {
      const auto found = plane_.stat_names.find(stat.value);
      text = {found != plane_.stat_names.end() ? writer_.define_string(found->second) : 0, true};
    }
    return text.string;
  }

  std::uint16_t limit_of(std::uint64_t bytes) {
    if (events_.limits[last_limit_] == bytes) return last_limit_;
    const auto found = std::find(events_.limits.begin(), events_.limits.end(), bytes);
    last_limit_ = static_cast<std::uint16_t>(found - events_.limits.begin());
    constexpr std::size_t limits_max = 1024;  // There is one per allocator; damaged files may have many.
    if (found == events_.limits.end()) {
      if (events_.limits.size() == limits_max) return last_limit_ = 0;
      events_.limits.push_back(bytes);
    }
    return last_limit_;
  }

  std::uint32_t allocator_of(std::uint64_t id) {
    std::uint32_t& number = allocators_[id];
    if (number == 0) {
      const auto name = plane_.stat_names.find(id);
      events_.allocators.push_back({name != plane_.stat_names.end() ? name->second : std::string_view(), number_});
      number = static_cast<std::uint32_t>(events_.allocators.size());
    }
    return number - 1;
  }

  std::uint32_t find_stack() {
    return open_.stack(writer_, [&](std::uint64_t id) {
      SpanName& name = names_[id];
      if (name.frame == 0) {
        const std::string_view text = text_of_event(id);
        name.frame = frames_.define(text);
        if (const std::string_view program = executed_program(text); !program.empty())
          name.program = writer_.define_string(program);
      }
      return name.frame;
    });
  }

  // That of the innermost span that executes one.
  std::uint32_t find_program() {
    return open_.find_innermost([&](std::uint64_t id) { return names_[id].program; });
  }

  const Plane& plane_;
  std::size_t number_;
  SpanFrames& frames_;
  wire::StreamWriter& writer_;
  Events& events_;
  bool has_steps_ = false;
  ById<Figure> figures_;
  ById<SpanName> names_;
  struct Text {
    std::uint32_t string = 0;
    bool is_defined = false;
  };
  ById<Text> texts_;
  ById<std::uint32_t> allocators_;  // Their number in Events, from 1, or 0 if not seen yet.
  OpenSpans open_;                  // Those that contain the event; times in ps.
  std::int64_t line_begin_ns_ = 0;
  std::uint16_t last_limit_ = 0;
  std::uint32_t last_texts_ = 0;
  std::unordered_map<EventTexts, std::uint32_t, TextsHash> text_numbers_;  // Index in Events::texts.
};

// Any plane can have them; that of the host's threads has them in practice.
bool has_memory_events(const Plane& plane) {
  return std::any_of(plane.event_names.begin(), plane.event_names.end(), [](const auto& each) {
    return each.second == "MemoryAllocation" || each.second == "MemoryDeallocation";
  });
}

std::uint64_t bytes_of(const Plane& plane) {
  std::uint64_t bytes = 0;
  for (const ByteRange& line : plane.lines) bytes += static_cast<std::uint64_t>(line.end - line.begin);
  return bytes;
}

}  // namespace

void SpanFrames::add_source_file(std::string_view path) {
  const auto [at, is_new] = paths_.try_emplace(std::string(base_name(path)), path);
  if (!is_new && at->second != path) at->second.clear();
}

std::string SpanFrames::file_of(std::string_view name) const {
  if (const auto path = paths_.find(name); path != paths_.end())
    return path->second.empty() ? std::string(name) : path->second;
  const bool is_of_jax = std::find(files_of_jax.begin(), files_of_jax.end(), name) != files_of_jax.end();
  return is_of_jax ? "jax/" + std::string(name) : std::string(name);
}

std::uint32_t SpanFrames::define(std::string_view span) {
  if (!span.starts_with('$')) return writer_.define_frame(span, "<operator>", 0);
  span.remove_prefix(1);
  const std::size_t space = span.find(' ');
  if (space == std::string_view::npos) return writer_.define_frame(span, "<built-in>", 0);
  const std::string_view place = span.substr(0, space), function = span.substr(space + 1);
  const std::size_t colon = place.rfind(':');
  std::uint32_t line = 0;
  if (colon != std::string_view::npos) {
    const auto [end, error] = std::from_chars(place.data() + colon + 1, place.data() + place.size(), line);
    if (error == std::errc() && end == place.data() + place.size())
      return writer_.define_frame(function, file_of(place.substr(0, colon)), line);
  }
  // A function in C: "$builtins isinstance", "$jaxlib.utils safe_zip", "$<unknown> append".
  return writer_.define_frame(
      place == "<unknown>" ? std::string(function) : std::string(place) + "." + std::string(function), "<built-in>", 0);
}

std::string_view executed_program(std::string_view span) {
  const std::size_t at = span.find("Executable::Execute (");
  if (at == std::string_view::npos || !span.ends_with(')')) return {};
  span.remove_prefix(span.find('(', at) + 1);
  return span.substr(0, span.size() - 1);
}

bool read_events(const Space& space, SpanFrames& frames, wire::StreamWriter& writer, ReadControl* control,
                 Events& events) {
  if (control != nullptr) {
    control->done_bytes = 0;
    control->total_bytes = 0;
    for (const Plane& plane : space.planes)
      if (has_memory_events(plane)) control->total_bytes += bytes_of(plane);
  }
  for (std::size_t i = 0; i < space.planes.size(); ++i) {
    const Plane& plane = space.planes[i];
    if (!has_memory_events(plane)) continue;
    PlaneReader reader(plane, i, frames, writer, events);
    for (const ByteRange& line : plane.lines) {
      if (control != nullptr && control->cancelled) return false;
      reader.read_line(line);
      if (control != nullptr) control->done_bytes += static_cast<std::uint64_t>(line.end - line.begin);
    }
  }
  return true;
}

}  // namespace hbmscope::xspace
