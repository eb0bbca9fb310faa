#include "analysis/write/trace_table_events.h"

#include <algorithm>
#include <limits>

#include "analysis/trace/pass.h"

namespace hbmscope {
namespace {

using wire::RecordKind;

std::int64_t clamped_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(value, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
}

class EventLines {
 public:
  explicit EventLines(TraceTableLines& lines) : lines_(lines) {}

  // `named`: the block that the event names. `heap`: the one that it changed; 0: none.
  void write(const wire::DecodedBlock& block, const RecordPlace& place, const std::optional<LiveBlock>& named,
             std::uint32_t heap) {
    if (place.event > next_event_) write_gap(place.event - next_event_, place.time_ns);
    next_event_ = place.event + 1;
    time_ns_ = place.time_ns;
    Row row;
    row.heap = heap;
    if (named) fill(row, *named);
    fill(row, block, place);
    begin(place.event, place.time_ns, word_for(block, place));
    end(row);
  }

  // Events that a damaged or missing block had: as many as their numbers tell, no source told of the loss.
  void write_gap(std::uint64_t count, std::optional<std::int64_t> time_ns) {
    Row row;
    row.value = clamped_signed(count);
    if (next_event_ > 0) row.lost_since_ns = static_cast<std::uint64_t>(time_ns_);
    begin(std::nullopt, time_ns, "loss");
    end(row);
  }

 private:
  using Number = TraceTableLines::Number;
  struct Row {
    std::uint32_t heap = 0, stack = 0, text = 0, key = 0;
    Number address, size, requested, allocation, device_stream, available, handle, offset, lost_since_ns, device;
    std::optional<std::int64_t> value;
  };

  void begin(const Number& event, std::optional<std::int64_t> time_ns, std::string_view word) {
    lines_.begin();
    lines_.add(event);
    lines_.add_time(time_ns);
    lines_.add_word(word);
  }
  void end(const Row& row) {
    lines_.add_heap(row.heap);
    lines_.add_address(row.heap, row.address);
    for (const Number& number : {row.size, row.requested, row.available, row.allocation, row.device_stream})
      lines_.add(number);
    lines_.add_signed(row.value);
    lines_.add_string(row.text);
    lines_.add_own_code(row.stack);
    lines_.add_string(row.key);
    lines_.add_hexadecimal(row.handle);
    for (const Number& number : {row.offset, row.lost_since_ns, row.device}) lines_.add(number);
    lines_.end();
  }

  static bool is_derived_free(const wire::DecodedBlock& block, const RecordPlace& place) {
    return place.kind == RecordKind::free && block.rows<wire::FreeRecord>()[place.row].stack == wire::derived_free;
  }
  static std::string_view word_for(const wire::DecodedBlock& block, const RecordPlace& place) {
    if (is_derived_free(block, place)) return "free_derived";
    const wire::RecordDescription* description = wire::find_record(static_cast<std::uint16_t>(place.kind));
    return description == nullptr ? "unknown" : description->name;
  }

  static void fill(Row& row, const LiveBlock& block) {
    if (block.has_address()) row.address = block.address;
    row.size = block.size;
    if (block.requested != wire::unknown_bytes) row.requested = block.requested;
    if (block.event != wire::before_the_stream) row.allocation = block.event;
    row.device_stream = block.stream;
  }

  static void fill(Row& row, const wire::DecodedBlock& block, const RecordPlace& place) {
    const std::size_t at = place.row;
    const auto fill_place = [&](const auto& record, std::uint32_t stack) {
      row.heap = record.heap;
      row.address = record.address;
      if (record.size > 0) row.size = record.size;
      row.stack = stack;
    };
    switch (place.kind) {
      case RecordKind::alloc: {
        const auto& record = block.rows<wire::AllocRecord>()[at];
        fill_place(record, record.stack);
        row.size = record.size;
        if (record.requested != wire::unknown_bytes) row.requested = record.requested;
        row.allocation = place.event;
        row.device_stream = record.stream;
        row.text = record.tag;
        break;
      }
      case RecordKind::free:
        if (!is_derived_free(block, place)) row.stack = block.rows<wire::FreeRecord>()[at].stack;
        break;
      case RecordKind::free_requested: row.stack = block.rows<wire::FreeRequestedRecord>()[at].stack; break;
      case RecordKind::free_at: {
        const auto& record = block.rows<wire::FreeAtRecord>()[at];
        fill_place(record, record.stack);
        break;
      }
      case RecordKind::free_requested_at: {
        const auto& record = block.rows<wire::FreeRequestedAtRecord>()[at];
        fill_place(record, record.stack);
        break;
      }
      case RecordKind::region_grow: {
        const auto& record = block.rows<wire::RegionGrowRecord>()[at];
        fill_place(record, record.stack);
        break;
      }
      case RecordKind::region_shrink: {
        const auto& record = block.rows<wire::RegionShrinkRecord>()[at];
        fill_place(record, record.stack);
        break;
      }
      case RecordKind::reserve: fill_place(block.rows<wire::ReserveRecord>()[at], 0); break;
      case RecordKind::unreserve: fill_place(block.rows<wire::UnreserveRecord>()[at], 0); break;
      case RecordKind::map: {
        const auto& record = block.rows<wire::MapRecord>()[at];
        fill_place(record, 0);
        row.handle = record.handle;
        row.offset = record.offset;
        break;
      }
      case RecordKind::unmap: fill_place(block.rows<wire::UnmapRecord>()[at], 0); break;
      default: fill_other(row, block, place); break;
    }
  }

  template <class Record>
  static void fill_handle(Row& row, const Record& record) {
    row.heap = record.heap;
    row.size = record.size;
    row.stack = record.stack;
    row.handle = record.handle;
  }

  static void fill_other(Row& row, const wire::DecodedBlock& block, const RecordPlace& place) {
    const std::size_t at = place.row;
    switch (place.kind) {
      case RecordKind::driver_refusal: {
        const auto& record = block.rows<wire::DriverRefusalRecord>()[at];
        row.heap = record.heap;
        row.requested = record.asked;
        row.value = record.error;
        if (record.available != wire::unknown_bytes) row.available = record.available;
        row.text = record.call;
        row.stack = record.stack;
        break;
      }
      case RecordKind::out_of_memory: {
        const auto& record = block.rows<wire::OutOfMemoryRecord>()[at];
        row.heap = record.heap;
        row.requested = record.asked;
        if (record.available != wire::unknown_bytes) row.available = record.available;
        row.text = record.reason;
        row.stack = record.stack;
        break;
      }
      case RecordKind::marker: {
        const auto& record = block.rows<wire::MarkerRecord>()[at];
        row.value = record.phase;
        row.text = record.name;
        if (record.device != wire::no_device) row.device = record.device;
        break;
      }
      case RecordKind::counter: {
        const auto& record = block.rows<wire::CounterRecord>()[at];
        row.heap = record.heap;
        row.value = record.value;
        row.text = record.name;
        break;
      }
      case RecordKind::attribute: {
        const auto& record = block.rows<wire::AttributeRecord>()[at];
        row.allocation = record.allocation;
        row.key = record.key;
        row.text = record.value;
        break;
      }
      case RecordKind::loss: {
        const auto& record = block.rows<wire::LossRecord>()[at];
        row.heap = record.heap;
        if (record.count > 0) row.value = clamped_signed(record.count);
        row.lost_since_ns = record.since_ns;
        break;
      }
      case RecordKind::physical_create:
        fill_handle(row, block.rows<wire::PhysicalCreateRecord>()[at]);
        row.allocation = place.event;
        break;
      case RecordKind::physical_import: fill_handle(row, block.rows<wire::PhysicalImportRecord>()[at]); break;
      case RecordKind::physical_export: row.handle = block.rows<wire::PhysicalExportRecord>()[at].handle; break;
      case RecordKind::physical_release: row.handle = block.rows<wire::PhysicalReleaseRecord>()[at].handle; break;
      default: break;
    }
  }

  TraceTableLines& lines_;
  std::uint64_t next_event_ = 0;
  std::int64_t time_ns_ = 0;  // Of the last one.
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
