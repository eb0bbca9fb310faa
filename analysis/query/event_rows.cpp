#include "analysis/query/event_rows.h"

#include <algorithm>

#include "analysis/trace/pass.h"

namespace hbmscope {
namespace {

using wire::RecordKind;

class EventRowMaker {
 public:
  explicit EventRowMaker(std::uint64_t first) : first_(first) {}

  // `named`: the block that the event is about, where it names one by its slot.
  void add(const wire::DecodedBlock& block, const RecordPlace& place, const std::optional<LiveBlock>& named) {
    if (!wire::is_event(static_cast<std::uint16_t>(place.kind)) || place.event < first_) return;
    EventRow row;
    row.event = place.event;
    row.time_ns = place.time_ns;
    row.kind = place.kind;
    if (named) {
      row.heap = named->heap;
      row.address = named->address;
      row.size = named->size;
      if (named->requested != wire::unknown_bytes) row.requested = named->requested;
      if (named->event != wire::before_the_stream) row.allocation = named->event;
      row.text = named->tag;
    }
    fill(row, block, place);
    rows_.push_back(row);
  }
  std::vector<EventRow> take() { return std::move(rows_); }

 private:
  template <class Record>
  static void fill_place(EventRow& row, const Record& record) {
    row.heap = record.heap;
    row.address = record.address;
    if (record.size > 0) row.size = record.size;
    if constexpr (requires { record.stack; }) row.stack = record.stack;
  }

  static void fill(EventRow& row, const wire::DecodedBlock& block, const RecordPlace& place) {
    const std::size_t at = place.row;
    switch (place.kind) {
      case RecordKind::alloc: {
        const auto& record = block.rows<wire::AllocRecord>()[at];
        fill_place(row, record);
        if (record.requested != wire::unknown_bytes) row.requested = record.requested;
        row.allocation = place.event;
        row.text = record.tag;
        return;
      }
      case RecordKind::free: {
        const std::uint32_t stack = block.rows<wire::FreeRecord>()[at].stack;
        row.is_derived = stack == wire::derived_free;
        if (!row.is_derived) row.stack = stack;
        return;
      }
      case RecordKind::free_requested: row.stack = block.rows<wire::FreeRequestedRecord>()[at].stack; return;
      case RecordKind::free_at: return fill_place(row, block.rows<wire::FreeAtRecord>()[at]);
      case RecordKind::free_requested_at: return fill_place(row, block.rows<wire::FreeRequestedAtRecord>()[at]);
      case RecordKind::region_grow: return fill_place(row, block.rows<wire::RegionGrowRecord>()[at]);
      case RecordKind::region_shrink: return fill_place(row, block.rows<wire::RegionShrinkRecord>()[at]);
      default: return fill_other(row, block, place);
    }
  }

  static void fill_other(EventRow& row, const wire::DecodedBlock& block, const RecordPlace& place) {
    const std::size_t at = place.row;
    switch (place.kind) {
      case RecordKind::heap_gone: row.heap = block.rows<wire::HeapGoneRecord>()[at].heap; return;
      case RecordKind::loss: row.heap = block.rows<wire::LossRecord>()[at].heap; return;
      case RecordKind::driver_refusal: {
        const auto& record = block.rows<wire::DriverRefusalRecord>()[at];
        row.heap = record.heap;
        row.requested = record.asked;
        row.text = record.call;
        row.stack = record.stack;
        return;
      }
      case RecordKind::out_of_memory: {
        const auto& record = block.rows<wire::OutOfMemoryRecord>()[at];
        row.heap = record.heap;
        row.requested = record.asked;
        row.text = record.reason;
        row.stack = record.stack;
        return;
      }
      case RecordKind::marker: row.text = block.rows<wire::MarkerRecord>()[at].name; return;
      case RecordKind::counter: {
        const auto& record = block.rows<wire::CounterRecord>()[at];
        row.heap = record.heap;
        row.value = record.value;
        row.text = record.name;
        return;
      }
      case RecordKind::attribute: {
        const auto& record = block.rows<wire::AttributeRecord>()[at];
        row.allocation = record.allocation;
        row.text = record.value;
        return;
      }
      default: return;
    }
  }

  std::uint64_t first_;
  std::vector<EventRow> rows_;
};

}  // namespace

std::vector<EventRow> compute_event_rows(const Stream& stream, std::uint64_t first, std::uint64_t last) {
  last = std::min(last, stream.end_position());
  EventRowMaker maker(first);
  if (first >= last) return {};
  StreamState state = stream.state_at(first);
  const auto visit = [&](const StreamState&, const HeapChange& change, const wire::DecodedBlock& block) {
    if (change.place.kind != RecordKind{}) maker.add(block, change.place, change.block);
  };
  const auto skipped = [&](const wire::DecodedBlock& block, const RecordPlace& place) {
    maker.add(block, place, std::nullopt);
  };
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  const auto& blocks = stream.blocks();
  for (std::size_t i = state.next_block(); i < blocks.size() && blocks[i]->header.first_event < last; ++i) {
    if (decoder.decode(*blocks[i], decoded)) break;  // It could be decoded when it was taken in.
    const HeapChangeObserver observer(decoded, state, last, visit, skipped);
    state.apply(decoded, i, stream.definitions(), last, observer);
    observer.skip_rest();
  }
  return maker.take();
}

std::string_view words_for_event(const EventRow& row) {
  switch (row.kind) {
    case RecordKind::alloc: return "allocated";
    case RecordKind::free: return row.is_derived ? "freed, not recorded" : "freed";
    case RecordKind::free_requested: return "free asked for";
    case RecordKind::free_at: return "freed, unknown";
    case RecordKind::free_requested_at: return "free asked for, unknown";
    case RecordKind::move: return "moved";
    case RecordKind::attribute: return "named";
    case RecordKind::region_grow: return "pool grew";
    case RecordKind::region_shrink: return "pool shrank";
    case RecordKind::heap_gone: return "heap gone";
    case RecordKind::driver_refusal: return "driver refused";
    case RecordKind::out_of_memory: return "out of memory";
    case RecordKind::marker: return "mark";
    case RecordKind::counter: return "counter";
    case RecordKind::loss: return "events lost";
    default: break;
  }
  const wire::RecordDescription* known = wire::find_record(static_cast<std::uint16_t>(row.kind));
  return known == nullptr ? std::string_view() : std::string_view(known->name);
}

}  // namespace hbmscope
