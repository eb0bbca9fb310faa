#include "analysis/write/trace_csv.h"

#include <iterator>

#include <fmt/format.h>

#include "analysis/query/allocation_times.h"
#include "analysis/query/trace_own_code.h"
#include "analysis/write/csv_text.h"

namespace hbmscope {
namespace {

using wire::RecordKind;

// "function,file,line" of the innermost own frame, made once a stack.
class OwnCode {
 public:
  explicit OwnCode(const Definitions& definitions)
      : definitions_(definitions), texts_(definitions.stack_count() + std::size_t{1}) {}

  const std::string& text(std::uint32_t stack) {
    std::string& text = texts_[stack < texts_.size() ? stack : 0];
    if (!text.empty()) return text;
    const auto frame = find_own_frame(definitions_, stack);
    text = frame ? fmt::format("{},{},{}", csv_text(definitions_.text(frame->function)),
                               csv_text(definitions_.text(frame->file)), frame->line)
                 : ",,";
    return text;
  }

 private:
  const Definitions& definitions_;
  std::vector<std::string> texts_;  // Empty: not made yet.
};

class TableWriter {
 public:
  TableWriter(const Stream& stream, std::size_t number, std::uint64_t end, TextPieces& out, PassControl& control)
      : stream_(stream), number_(number), end_(end), out_(out), control_(control), own_(stream.definitions()) {
    for (const HeapInfo& heap : stream.definitions().heaps()) heap_names_.push_back(csv_text(heap.name));
  }

  bool write_events() {
    return pass_over_heaps(
        stream_, end_, &control_,
        [&](const StreamState&, const HeapChange& change, const wire::DecodedBlock& block) {
          if (wire::is_event(static_cast<std::uint16_t>(change.place.kind)))
            write_event(block, change.place, change.block, change.heap);
        },
        [&](const wire::DecodedBlock& block, const RecordPlace& place) { write_event(block, place, std::nullopt, 0); });
  }

  // `end`: the state at the end, whose live blocks come last.
  bool write_blocks(const StreamState& end) {
    AllocationTimes times;
    const bool is_whole = pass_over_heaps(
        stream_, end_, &control_,
        [&](const StreamState& state, const HeapChange& change, const wire::DecodedBlock&) {
          if (change.what == HeapChange::What::allocated)
            times.add(change.place.event, change.time_ns, state);
          else if (change.what == HeapChange::What::freed)
            write_block(*change.block, change.heap, times.take(change.block->event), &change.place);
        },
        [](const wire::DecodedBlock&, const RecordPlace&) {});
    if (!is_whole) return false;
    for (const LiveBlock& block : end.slots())
      if (block.is_live()) write_block(block, block.heap, times.find(block.event), nullptr);
    return true;
  }

 private:
  using Number = std::optional<std::uint64_t>;
  struct Row {
    std::uint32_t heap = 0, stack = 0, text = 0;
    Number address, size, requested, allocation, device_stream, available;
    std::optional<std::int64_t> value;
  };

  void write_event(const wire::DecodedBlock& block, const RecordPlace& place, const std::optional<LiveBlock>& named,
                   std::uint32_t heap) {
    Row row;
    row.heap = heap;
    if (named) fill(row, *named);
    fill(row, block, place);
    const wire::RecordDescription* description = wire::find_record(static_cast<std::uint16_t>(place.kind));
    std::string& text = out_.text();
    fmt::format_to(std::back_inserter(text), "{},{},", number_, place.event);
    add_time(place.time_ns);
    text += description == nullptr ? "unknown" : description->name;
    text += ',';
    text += heap_name(row.heap);
    add_address(row.heap, row.address);
    for (const Number& number : {row.size, row.requested, row.available, row.allocation, row.device_stream})
      add(number);
    text += ',';
    if (row.value) fmt::format_to(std::back_inserter(text), "{}", *row.value);
    text += ',';
    text += csv_text(stream_.definitions().text(row.text));
    text += ',';
    text += own_.text(row.stack);
    end_line();
  }

  static void fill(Row& row, const LiveBlock& block) {
    row.address = block.address;
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
      case RecordKind::free: row.stack = block.rows<wire::FreeRecord>()[at].stack; break;
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
      case RecordKind::map: fill_place(block.rows<wire::MapRecord>()[at], 0); break;
      case RecordKind::unmap: fill_place(block.rows<wire::UnmapRecord>()[at], 0); break;
      default: fill_other(row, block, place); break;
    }
  }

  static void fill_other(Row& row, const wire::DecodedBlock& block, const RecordPlace& place) {
    const std::size_t at = place.row;
    switch (place.kind) {
      case RecordKind::driver_refusal: {
        const auto& record = block.rows<wire::DriverRefusalRecord>()[at];
        row.heap = record.heap;
        row.requested = record.asked;
        row.value = record.error;
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
        row.text = record.value;
        break;
      }
      case RecordKind::loss: row.heap = block.rows<wire::LossRecord>()[at].heap; break;
      case RecordKind::physical_create: {
        const auto& record = block.rows<wire::PhysicalCreateRecord>()[at];
        row.heap = record.heap;
        row.size = record.size;
        row.stack = record.stack;
        break;
      }
      default: break;
    }
  }

  // `end`: its free; null: it lives.
  void write_block(const LiveBlock& block, std::uint32_t heap, std::optional<std::int64_t> begin_ns,
                   const RecordPlace* end) {
    Row row;
    fill(row, block);
    std::string& text = out_.text();
    fmt::format_to(std::back_inserter(text), "{}", number_);
    add(row.allocation);
    text += ',';
    text += heap_name(heap);
    add_address(heap, row.address);
    for (const Number& number : {row.size, row.requested, row.device_stream}) add(number);
    text += ',';
    add_time(begin_ns);
    if (end != nullptr) {
      fmt::format_to(std::back_inserter(text), "{},", end->event);
      add_time(end->time_ns);
      text += "freed,";
    } else {
      text += block.is_pending() ? ",,,pending," : ",,,live,";
    }
    text += csv_text(stream_.definitions().text(block.tag));
    text += ',';
    text += own_.text(block.stack);
    end_line();
  }

  // "time,time since the first event,"
  void add_time(std::optional<std::int64_t> time_ns) {
    if (!time_ns || !stream_.has_times()) {
      out_.text() += ",,";
      return;
    }
    const auto since = static_cast<std::int64_t>(static_cast<std::uint64_t>(*time_ns) -
                                                 static_cast<std::uint64_t>(stream_.first_time_ns()));
    fmt::format_to(std::back_inserter(out_.text()), "{},{},", *time_ns, since);
  }
  void add(const Number& number) {
    out_.text() += ',';
    if (number) fmt::format_to(std::back_inserter(out_.text()), "{}", *number);
  }
  void add_address(std::uint32_t heap, const Number& address) {
    out_.text() += ',';
    if (address && stream_.definitions().heap(heap).has(wire::heap_flag::has_addresses))
      fmt::format_to(std::back_inserter(out_.text()), "0x{:x}", *address);
  }
  std::string_view heap_name(std::uint32_t heap) const {
    return heap < heap_names_.size() ? std::string_view(heap_names_[heap]) : std::string_view();
  }
  void end_line() {
    out_.text() += "\r\n";
    out_.line_is_done();
    // A full disk ends the pass as a wish to stop does.
    if (!out_.is_open()) control_.cancelled = true;
  }

  const Stream& stream_;
  std::size_t number_;
  std::uint64_t end_;
  TextPieces& out_;
  PassControl& control_;
  OwnCode own_;
  std::vector<std::string> heap_names_;  // By id.
};

}  // namespace

Result<TraceTable> parse_trace_table(std::string_view name) {
  if (name == "events") return TraceTable::events;
  if (name == "blocks") return TraceTable::blocks;
  return Failure(
      Error{fmt::format("'{}' is no table of a trace", name), "Known: --what events, --what blocks.", {}, {}, false});
}

ExportEnd write_trace_csv(const Trace& trace, const std::vector<StreamState>& states, TraceTable table,
                          const TextSink& sink, PassControl* control) {
  TextPieces out(sink);
  out.text() = table == TraceTable::events
                   ? "stream,event,time_ns,since_start_ns,kind,heap,address,size_bytes,requested_bytes,"
                     "available_bytes,allocation_event,device_stream,value,text,own_function,own_file,own_line\r\n"
                   : "stream,allocation_event,heap,address,size_bytes,requested_bytes,device_stream,allocated_time_ns,"
                     "allocated_since_start_ns,freed_event,freed_time_ns,freed_since_start_ns,state,tag,own_function,"
                     "own_file,own_line\r\n";
  PassControl own_control;
  PassControl& pass = control == nullptr ? own_control : *control;
  for (const Stream& stream : trace.streams) pass.total_events += stream.end_position();
  for (std::size_t i = 0; i < states.size(); ++i) {
    TableWriter writer(trace.streams[i], i, states[i].position(), out, pass);
    const bool is_whole = table == TraceTable::events ? writer.write_events() : writer.write_blocks(states[i]);
    if (!out.is_open()) return ExportEnd::refused;
    if (!is_whole) return ExportEnd::cancelled;
  }
  return out.flush() ? ExportEnd::whole : ExportEnd::refused;
}

}  // namespace hbmscope
