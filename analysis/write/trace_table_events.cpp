#include "analysis/write/trace_table_events.h"

#include "analysis/trace/event_fields.h"
#include "analysis/units/format.h"

#include "analysis/trace/pass.h"

namespace hbmscope {
namespace {

using wire::RecordKind;

class EventLines {
 public:
  explicit EventLines(TraceTableLines& lines) : lines_(lines) {}

  // `named`: the block that the event refers to. `heap`: the heap that it changed. 0 if there is none.
  void write(const wire::DecodedBlock& block, const RecordPlace& place, const std::optional<LiveBlock>& named,
             std::uint32_t heap) {
    if (place.event > next_event_) write_gap(place.event - next_event_, place.time_ns);
    next_event_ = place.event + 1;
    time_ns_ = place.time_ns;
    EventFields fields;
    if (named) fields = fields_of_block(*named);
    fields.heap = heap;
    fields.take(fields_of_event(block, place));
    begin(place.event, place.time_ns, fields.is_derived ? "free_derived" : word_for(place.kind));
    end(fields);
  }

  // Events in a damaged or missing block, counted by event numbers; the source did not report this loss.
  void write_gap(std::uint64_t count, std::optional<std::int64_t> time_ns) {
    EventFields fields;
    fields.value = signed_from(count);
    if (next_event_ > 0) fields.lost_since_ns = static_cast<std::uint64_t>(time_ns_);
    begin(std::nullopt, time_ns, "loss");
    end(fields);
  }

 private:
  using Number = TraceTableLines::Number;

  void begin(const Number& event, std::optional<std::int64_t> time_ns, std::string_view word) {
    lines_.begin();
    lines_.add(event);
    lines_.add_time(time_ns);
    lines_.add_word(word);
  }
  void end(const EventFields& row) {
    lines_.add_heap(row.heap);
    lines_.add_address(row.heap, row.address);
    for (const Number& number : {row.size, row.requested, row.available, row.allocation, row.device_stream})
      lines_.add(number);
    lines_.add_signed(row.value);
    lines_.add_string(row.text);
    lines_.add_user_code(row.stack);
    lines_.add_string(row.key);
    lines_.add_hexadecimal(row.handle);
    for (const Number& number : {row.offset, row.lost_since_ns, row.device}) lines_.add(number);
    lines_.end();
  }

  static std::string_view word_for(RecordKind kind) {
    const wire::RecordDescription* description = wire::find_record(static_cast<std::uint16_t>(kind));
    return description == nullptr ? "unknown" : description->name;
  }

  TraceTableLines& lines_;
  std::uint64_t next_event_ = 0;
  std::int64_t time_ns_ = 0;  // The time of the last event.
};

}  // namespace

bool write_event_lines(const Stream& stream, std::uint64_t end, TraceTableLines& lines, PassControl& control) {
  EventLines events(lines);
  const bool is_whole = pass_over_heaps(
      stream, end, &control,
      [&](const StreamState&, const HeapChange& change, const wire::DecodedBlock& block) {
        if (wire::is_event(static_cast<std::uint16_t>(change.place.kind)))
          events.write(block, change.place, change.block, change.heap);
      },
      [&](const wire::DecodedBlock& block, const RecordPlace& place) { events.write(block, place, std::nullopt, 0); });
  if (is_whole && end >= stream.end_position() && stream.events_lost_at_end() > 0)
    events.write_gap(stream.events_lost_at_end(), std::nullopt);
  return is_whole;
}

}  // namespace hbmscope
