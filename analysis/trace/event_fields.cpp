#include "analysis/trace/event_fields.h"

#include <algorithm>
#include <limits>

namespace hbmscope {
namespace {

std::int64_t clamped_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(value, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
}

// Uses the field names of records.txt.
template <class Record>
EventFields fields_of(const Record& record) {
  EventFields fields;
  if constexpr (requires { record.heap; }) fields.heap = record.heap;
  if constexpr (requires { record.stack; }) fields.stack = record.stack;
  if constexpr (requires { record.address; }) fields.address = record.address;
  if constexpr (requires { record.size; }) fields.size = record.size;
  if constexpr (requires { record.requested; })
    if (record.requested != wire::unknown_bytes) fields.requested = record.requested;
  if constexpr (requires { record.available; })
    if (record.available != wire::unknown_bytes) fields.available = record.available;
  if constexpr (requires { record.allocation; }) fields.allocation = record.allocation;
  if constexpr (requires { record.stream; }) fields.device_stream = record.stream;
  if constexpr (requires { record.handle; }) fields.handle = record.handle;
  if constexpr (requires { record.offset; }) fields.offset = record.offset;
  if constexpr (requires { record.since_ns; }) fields.lost_since_ns = record.since_ns;
  if constexpr (requires { record.device; })
    if (record.device != wire::no_device) fields.device = record.device;
  if constexpr (requires { record.tag; }) fields.text = record.tag;
  if constexpr (requires { record.name; }) fields.text = record.name;
  if constexpr (requires { record.call; }) fields.text = record.call;
  if constexpr (requires { record.reason; }) fields.text = record.reason;
  if constexpr (requires { record.error; }) fields.value = record.error;
  if constexpr (requires { record.phase; }) fields.value = record.phase;
  return fields;
}

}  // namespace

void EventFields::take(const EventFields& more) {
  for (const auto field : {&EventFields::heap, &EventFields::stack, &EventFields::text, &EventFields::key})
    if (more.*field != 0) this->*field = more.*field;
  for (const auto field : {&EventFields::address, &EventFields::size, &EventFields::requested, &EventFields::available,
                           &EventFields::allocation, &EventFields::device_stream, &EventFields::handle,
                           &EventFields::offset, &EventFields::lost_since_ns, &EventFields::device})
    if (more.*field) this->*field = more.*field;
  if (more.value) value = more.value;
  is_derived |= more.is_derived;
}

EventFields fields_of_block(const LiveBlock& block) {
  EventFields fields;
  fields.heap = block.heap;
  if (block.has_address()) fields.address = block.address;
  fields.size = block.size;
  if (block.requested != wire::unknown_bytes) fields.requested = block.requested;
  if (block.event != wire::before_the_stream) fields.allocation = block.event;
  fields.device_stream = block.stream;
  return fields;
}

EventFields fields_of_event(const wire::DecodedBlock& block, const RecordPlace& place) {
  using wire::RecordKind;
  EventFields fields;
  wire::with_record_type(place.kind, [&]<class Record>() { fields = fields_of(block.rows<Record>()[place.row]); });
  switch (place.kind) {
    case RecordKind::alloc:
      fields.allocation = place.event;
      if ((block.rows<wire::AllocRecord>()[place.row].flags & wire::block_flag::has_no_address) != 0)
        fields.address.reset();
      break;
    case RecordKind::physical_create: fields.allocation = place.event; break;
    case RecordKind::free:
      fields.is_derived = fields.stack == wire::derived_free;
      if (fields.is_derived) fields.stack = 0;
      break;
    case RecordKind::counter: fields.value = block.rows<wire::CounterRecord>()[place.row].value; break;
    case RecordKind::attribute: {
      const auto& record = block.rows<wire::AttributeRecord>()[place.row];
      fields.key = record.key;
      fields.text = record.value;
      fields.size.reset();  // Those of the allocation.
      fields.stack = 0;
      break;
    }
    case RecordKind::loss:
      if (const std::uint64_t count = block.rows<wire::LossRecord>()[place.row].count; count > 0)
        fields.value = clamped_signed(count);
      break;
    case RecordKind::move:
    case RecordKind::move_at: fields.address.reset(); break;  // Only its destination: the block was elsewhere.
    default:
      // 0 means that the source does not know the size.
      if (fields.size == std::uint64_t{0} && place.kind != RecordKind::physical_import) fields.size.reset();
  }
  return fields;
}

}  // namespace hbmscope
