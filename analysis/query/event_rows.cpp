#include "analysis/query/event_rows.h"

#include <algorithm>

#include "analysis/trace/event_fields.h"
#include "analysis/trace/pass.h"

namespace hbmscope {
namespace {

using wire::RecordKind;

class EventRowMaker {
 public:
  explicit EventRowMaker(std::uint64_t first) : first_(first) {}

  // `named`: the block that the event refers to by slot, if any.
  void add(const wire::DecodedBlock& block, const RecordPlace& place, const std::optional<LiveBlock>& named) {
    if (!wire::is_event(static_cast<std::uint16_t>(place.kind)) || place.event < first_) return;
    EventFields fields;
    if (named) {
      fields = fields_of_block(*named);
      fields.text = named->tag;
    }
    fields.take(fields_of_event(block, place));
    if (place.kind != RecordKind::counter) fields.value.reset();
    rows_.push_back({place.event, place.time_ns, place.kind, fields.heap, fields.stack, fields.text, fields.address,
                     fields.size, fields.requested, fields.allocation, fields.value, fields.is_derived});
  }
  std::vector<EventRow> take() { return std::move(rows_); }

 private:
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
    if (decoder.decode(*blocks[i], decoded)) break;  // It was decodable when it was appended.
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
    case RecordKind::free_requested: return "free requested";
    case RecordKind::free_at: return "freed, unknown";
    case RecordKind::free_requested_at: return "free requested, unknown";
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
