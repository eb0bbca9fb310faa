#include "analysis/read/kineto/kineto_events.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/read/json_fields.h"

namespace hbmscope::kineto {
namespace {

constexpr std::size_t devices_max = 1024, name_bytes_max = 4096;

// Counts the bytes that the parser reads, to report progress every megabyte.
class WatchedBytes {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  WatchedBytes(const char* at, const char* begin, ReadControl* control) : at_(at), begin_(begin), control_(control) {}
  char operator*() const { return *at_; }
  WatchedBytes& operator++() {
    ++at_;
    constexpr std::ptrdiff_t between_looks = 1 << 20;
    if (control_ != nullptr && (at_ - begin_) % between_looks == 0)
      control_->done_bytes = static_cast<std::uint64_t>(at_ - begin_);
    return *this;
  }
  bool operator==(const WatchedBytes& other) const { return at_ == other.at_; }
  bool operator!=(const WatchedBytes& other) const { return at_ != other.at_; }

 private:
  const char *at_, *begin_;
  ReadControl* control_;
};

// Parses microseconds exactly to the nanosecond: a double is too small for microseconds since 1970.
std::optional<std::int64_t> ns_from_text(const std::string& text) {
  std::int64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, whole);
  constexpr std::int64_t whole_max = std::numeric_limits<std::int64_t>::max() / 2000;
  if (error != std::errc() || whole > whole_max || whole < -whole_max) return std::nullopt;
  std::int64_t ns = 0;
  const char* at = dot;
  if (at != end && *at == '.') {
    std::int64_t place = 100;
    for (++at; at != end && *at >= '0' && *at <= '9'; ++at, place /= 10) ns += (*at - '0') * place;
  }
  if (at != end) return std::nullopt;  // An exponent; producers never write times like that.
  return whole * 1000 + (text.front() == '-' ? -ns : ns);
}

enum class Field : std::uint8_t {
  other,
  ph,
  cat,
  name,
  pid,
  tid,
  ts,
  dur,
  args,  // An event's arguments.
  bytes,
  address,
  device_type,
  device_id,
  total_allocated,
  total_reserved,  // In its args.
};

struct FieldName {
  std::string_view text;
  Field field;
};
constexpr FieldName event_fields[] = {{"ph", Field::ph},   {"cat", Field::cat},  {"name", Field::name},
                                      {"pid", Field::pid}, {"tid", Field::tid},  {"ts", Field::ts},
                                      {"dur", Field::dur}, {"args", Field::args}};
constexpr FieldName memory_fields[] = {{"Bytes", Field::bytes},
                                       {"Addr", Field::address},
                                       {"Device Type", Field::device_type},
                                       {"Device Id", Field::device_id},
                                       {"Total Allocated", Field::total_allocated},
                                       {"Total Reserved", Field::total_reserved}};

template <std::size_t count>
Field find_field(const FieldName (&names)[count], std::string_view text) {
  for (const FieldName& name : names)
    if (name.text == text) return name.field;
  return Field::other;
}

// The event being read; unknown fields stay empty.
struct Row {
  std::string name, category, pid, tid;
  char phase = 0;
  bool has_bad_time = false;
  std::optional<std::int64_t> begin_ns, duration_ns;
  std::optional<std::int64_t> bytes, address, total_allocated, total_reserved, device_type, device_id;
};

class Handler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Handler(Events& events, const ReadControl* control) : events_(events), control_(control) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t number) override { return integer(number); }
  bool number_unsigned(number_unsigned_t number) override {
    // Only an address may use all 64 bits.
    if (number > std::numeric_limits<std::int64_t>::max() && field_ != Field::address) return value();
    return integer(static_cast<std::int64_t>(number));
  }
  bool number_float(number_float_t, const string_t& text) override {
    if (Field field = take_field(); field == Field::ts || field == Field::dur)
      set_time(field, ns_from_text(text));
    else if (field >= Field::bytes)
      is_bad_ = true;
    return true;
  }
  bool string(string_t& text) override {
    switch (take_field()) {
      case Field::ph: row_.phase = text.size() == 1 ? text[0] : '\0'; break;
      case Field::cat: row_.category = text; break;
      case Field::name: row_.name.assign(text, 0, name_bytes_max); break;
      case Field::pid: row_.pid = text; break;
      case Field::tid: row_.tid = text; break;
      case Field::other:
      case Field::args: break;
      default: is_bad_ = true; break;
    }
    return true;
  }
  bool binary(binary_t&) override { return value(); }

  bool start_object(std::size_t) override {
    const Field field = take_field();
    ++depth_;
    if (depth_ == 3 && in_events_) row_ = {}, is_bad_ = false;
    if (depth_ == 4 && in_events_) in_args_ = field == Field::args;
    return true;
  }
  bool end_object() override {
    if (depth_ == 3 && in_events_) add_row();
    if (depth_ == 4) in_args_ = false;
    --depth_;
    return control_ == nullptr || !control_->cancelled;
  }
  bool start_array(std::size_t) override {
    take_field();
    ++depth_;
    if (depth_ == 2 && is_events_key_) in_events_ = has_events_ = true;
    is_events_key_ = false;
    return true;
  }
  bool end_array() override {
    if (depth_ == 2) in_events_ = false;
    --depth_;
    return true;
  }
  bool key(string_t& text) override {
    if (depth_ == 1) {
      is_events_key_ = text == "traceEvents";
      is_base_time_ = text == "baseTimeNanoseconds";
    } else if (in_events_ && depth_ == 3) {
      field_ = find_field(event_fields, text);
    } else if (in_args_ && depth_ == 4) {
      field_ = find_field(memory_fields, text);
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    error_offset_ = position > 0 ? position - 1 : 0;
    error_ = reason_of_json_error(error.what());
    return false;
  }

  bool has_events() const { return has_events_; }
  const std::string& error() const { return error_; }
  std::uint64_t error_offset() const { return error_offset_; }

 private:
  Field take_field() { return std::exchange(field_, Field::other); }
  bool value() {
    if (take_field() >= Field::bytes) is_bad_ = true;
    return true;
  }

  void set_time(Field field, std::optional<std::int64_t> ns) {
    if (!ns) row_.has_bad_time = true;
    (field == Field::ts ? row_.begin_ns : row_.duration_ns) = ns;
  }

  bool integer(std::int64_t number) {
    if (depth_ == 1 && is_base_time_) events_.base_time_ns = number;
    const Field field = take_field();
    switch (field) {
      case Field::pid: row_.pid = std::to_string(number); break;
      case Field::tid: row_.tid = std::to_string(number); break;
      case Field::ts:
      case Field::dur: {
        std::int64_t ns = 0;
        const bool is_possible = !__builtin_mul_overflow(number, 1000, &ns) && std::abs(ns / 2) < (1LL << 61);
        set_time(field, is_possible ? std::optional(ns) : std::nullopt);
        break;
      }
      case Field::bytes: row_.bytes = number; break;
      case Field::address: row_.address = number; break;
      case Field::device_type: row_.device_type = number; break;
      case Field::device_id: row_.device_id = number; break;
      case Field::total_allocated: row_.total_allocated = number; break;
      case Field::total_reserved: row_.total_reserved = number; break;
      default: break;
    }
    return true;
  }

  void add_row() {
    ++events_.events;
    const bool is_span = row_.phase == 'X' && (row_.category == "cpu_op" || row_.category == "python_function" ||
                                               row_.category == "Operator");
    const bool is_out_of_memory = row_.name == "[OutOfMemory]";
    const bool is_memory = (row_.phase == 'i' || row_.phase == 'I') && (row_.name == "[memory]" || is_out_of_memory);
    if (!is_span && !is_memory) return;
    if (!row_.begin_ns || row_.has_bad_time)
      events_.bad_times.note(events_.events);
    else if (is_span)
      add_span();
    else
      add_memory(is_out_of_memory);
  }

  void add_span() {
    // The range of valid times is small enough that this sum can't overflow.
    const std::int64_t duration = std::max<std::int64_t>(0, row_.duration_ns.value_or(0));
    const auto [found, is_new] = names_.try_emplace(row_.name, static_cast<std::uint32_t>(events_.names.size()));
    if (is_new) events_.names.push_back(row_.name);
    events_.spans.push_back({*row_.begin_ns, *row_.begin_ns + duration, find_thread(), found->second});
  }

  void add_memory(bool is_out_of_memory) {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    const std::int64_t type = row_.device_type.value_or(0), id = row_.device_id.value_or(-1);
    if (is_bad_ || !row_.bytes || *row_.bytes == least || type < 0 || type > 255 || id < -1 || id > 65'535 ||
        (is_out_of_memory && *row_.bytes < 0)) {
      events_.bad_fields.note(events_.events);
      return;
    }
    if (!is_out_of_memory && !row_.address) {
      events_.without_address.note(events_.events);
      return;
    }
    const Device device{static_cast<std::int32_t>(type), static_cast<std::int32_t>(id)};
    auto found = std::find(events_.devices.begin(), events_.devices.end(), device);
    if (found == events_.devices.end()) {
      if (events_.devices.size() == devices_max) {
        events_.bad_fields.note(events_.events);
        return;
      }
      found = events_.devices.insert(found, device);
    }
    MemoryEvent event;
    event.time_ns = *row_.begin_ns;
    event.bytes = *row_.bytes;
    event.address = static_cast<std::uint64_t>(row_.address.value_or(0));
    event.total_allocated = std::max<std::int64_t>(-1, row_.total_allocated.value_or(-1));
    event.total_reserved = std::max<std::int64_t>(-1, row_.total_reserved.value_or(-1));
    event.thread = find_thread();
    event.device = static_cast<std::uint16_t>(found - events_.devices.begin());
    event.is_out_of_memory = is_out_of_memory;
    events_.memory.push_back(event);
  }

  std::uint32_t find_thread() {
    thread_key_.assign(row_.pid).append(1, '/').append(row_.tid);
    const auto [found, is_new] = threads_.try_emplace(thread_key_, events_.threads);
    if (is_new) ++events_.threads;
    return found->second;
  }

  Events& events_;
  const ReadControl* control_;
  Row row_;
  Field field_ = Field::other;
  std::uint64_t depth_ = 0;  // Open objects and arrays: 1 the file, 2 its events, 3 an event, 4 its args.
  bool in_events_ = false, in_args_ = false, is_events_key_ = false, is_base_time_ = false, has_events_ = false;
  bool is_bad_ = false;  // A field of the event has a wrong type.
  std::unordered_map<std::string, std::uint32_t> names_, threads_;
  std::string thread_key_, error_;
  std::uint64_t error_offset_ = 0;
};

}  // namespace

Result<Events> read_events(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control) {
  Events events;
  Handler handler(events, control);
  if (control != nullptr) control->total_bytes = bytes.size();
  const char* const begin = reinterpret_cast<const char*>(bytes.data());
  const char* const end = begin + bytes.size();
  const bool is_whole =
      nlohmann::json::sax_parse(WatchedBytes(begin, begin, control), WatchedBytes(end, begin, nullptr), &handler);
  if (control != nullptr && control->cancelled) return Failure(refusal("reading was cancelled", {}, name));
  if (!is_whole)
    return Failure(Error{fmt::format("this Chrome trace is incomplete: {}", handler.error()),
                         "Was the file cut off? Export it again: prof.export_chrome_trace(\"trace.json\").", name,
                         std::min<std::uint64_t>(handler.error_offset(), bytes.size()), false});
  if (!handler.has_events())
    return Failure(refusal("this JSON has no list \"traceEvents\", so it is not a Chrome trace",
                           "Export one: prof.export_chrome_trace(\"trace.json\").", name));
  if (control != nullptr) control->done_bytes = bytes.size();
  return events;
}

}  // namespace hbmscope::kineto
