#include "analysis/trace/stream.h"

#include <algorithm>

namespace hbmscope {
namespace {

// Keyframes may cost this many bytes an event, so that a trace with many live blocks has them farther apart.
constexpr std::uint64_t keyframe_bytes_per_event = 6;
// A keyframe is one block, which has a limit.
constexpr std::uint64_t keyframe_blocks_max = wire::block_records_max / 4;

// Kinds that Stream, StreamState, PhysicalState or Definitions take in. One that the wire learns belongs here when the
// model has learned it too; until then it is counted as passed over.
constexpr bool is_held(std::uint8_t kind) {
  using wire::RecordKind;
  switch (static_cast<RecordKind>(kind)) {
    case RecordKind::string:
    case RecordKind::frame:
    case RecordKind::stack:
    case RecordKind::module:
    case RecordKind::heap:
    case RecordKind::job:
    case RecordKind::clock:
    case RecordKind::live:
    case RecordKind::listing:
    case RecordKind::region_live:
    case RecordKind::alloc:
    case RecordKind::free:
    case RecordKind::free_requested:
    case RecordKind::free_at:
    case RecordKind::free_requested_at:
    case RecordKind::move:
    case RecordKind::attribute:
    case RecordKind::region_grow:
    case RecordKind::region_shrink:
    case RecordKind::heap_gone:
    case RecordKind::physical_create:
    case RecordKind::physical_import:
    case RecordKind::physical_export:
    case RecordKind::physical_release:
    case RecordKind::reserve:
    case RecordKind::unreserve:
    case RecordKind::map:
    case RecordKind::unmap:
    case RecordKind::driver_refusal:
    case RecordKind::out_of_memory:
    case RecordKind::marker:
    case RecordKind::counter:
    case RecordKind::loss: return true;
    default: return false;  // free_slot stands in keyframes only.
  }
}

}  // namespace

std::optional<std::string> Stream::append(wire::SharedBlock block) {
  if (auto fault = decoder_.decode(*block, decoded_)) {
    ++counts_.damaged_blocks;
    return fault;
  }
  if (block->header.type != wire::BlockType::events) return std::nullopt;
  if (block->header.first_event < last_.position()) return "a block of events that were there before";
  counts_.lost += block->header.first_event - last_.position();
  // Blocks may also be missing that had no events.
  if (block->header.sequence > next_sequence_) counts_.missing_blocks += block->header.sequence - next_sequence_;
  next_sequence_ = block->header.sequence + 1;
  definitions_.add(decoded_);
  note(decoded_);
  peaks_.resize(definitions_.heaps().size());
  last_.make_heaps(definitions_);
  const std::size_t number = blocks_.size();
  blocks_.push_back(std::move(block));
  last_.apply(decoded_, number, definitions_, ~std::uint64_t{0},
              [&](std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) {
                HeapPeak& peak = peaks_[heap];
                const std::uint64_t in_use = last_.in_use_bytes(heap);
                if (in_use > peak.in_use_bytes) peak = {in_use, position, time_ns};
              });
  keep_keyframe();
  return std::nullopt;
}

void Stream::keep_keyframe() {
  const std::uint64_t since = last_.position() - (keyframes_.empty() ? 0 : keyframes_.back()->position);
  if (since < keyframe_events_ || last_.slots().size() > keyframe_blocks_max) return;
  auto keyframe = std::make_shared<const Keyframe>(last_.make_keyframe());
  keyframe_events_ =
      std::max<std::uint64_t>(wire::block_events_max, keyframe->memory_bytes() / keyframe_bytes_per_event);
  keyframes_.push_back(std::move(keyframe));
}

void Stream::note(const wire::DecodedBlock& block) {
  using wire::RecordKind;
  const auto kinds = block.kinds();
  const auto times = block.times_ns();
  std::array<std::uint64_t, 256> rows{};
  std::uint64_t event = block.header().first_event;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::uint64_t row = rows[kinds[i]]++;
    switch (static_cast<RecordKind>(kinds[i])) {
      case RecordKind::out_of_memory: {
        const auto& record = block.rows<wire::OutOfMemoryRecord>()[row];
        FailureEvent failure{event,       times[i],     record.asked,  std::nullopt,
                             record.heap, record.stack, record.reason, true};
        if (record.available != wire::unknown_bytes) failure.available_bytes = record.available;
        failures_.push_back(failure);
        break;
      }
      case RecordKind::driver_refusal: {
        const auto& record = block.rows<wire::DriverRefusalRecord>()[row];
        failures_.push_back(
            {event, times[i], record.asked, std::nullopt, record.heap, record.stack, record.call, false});
        break;
      }
      case RecordKind::marker: {
        const auto& record = block.rows<wire::MarkerRecord>()[row];
        marks_.push_back({event, times[i], record.name, record.device, record.phase});
        break;
      }
      case RecordKind::counter: {
        const auto& record = block.rows<wire::CounterRecord>()[row];
        counters_.add({record.name, record.heap}, {event, times[i], record.value});
        break;
      }
      case RecordKind::attribute: {
        const auto& record = block.rows<wire::AttributeRecord>()[row];
        attributes_.add({record.allocation, event, record.key, record.value});
        break;
      }
      case RecordKind::clock: {
        const auto& record = block.rows<wire::ClockRecord>()[row];
        clocks_.add({times[i], record.realtime_ns, record.tsc});
        break;
      }
      case RecordKind::loss:
        counts_.lost += std::max<std::uint64_t>(1, block.rows<wire::LossRecord>()[row].count);
        break;
      default:
        if (!is_held(kinds[i])) ++passed_over_[kinds[i]];
        break;
    }
    if (!wire::is_event(kinds[i])) continue;
    if (!has_events_) first_time_ns_ = last_time_ns_ = times[i];
    has_events_ = true;
    last_time_ns_ = std::max(last_time_ns_, times[i]);
    ++event;
  }
  const auto count = [&](RecordKind kind) { return rows[static_cast<std::size_t>(kind)]; };
  counts_.alloc += count(RecordKind::alloc);
  counts_.free += count(RecordKind::free) + count(RecordKind::free_at);
  counts_.driver_refusals += count(RecordKind::driver_refusal);
  counts_.out_of_memory += count(RecordKind::out_of_memory);
  counts_.unknown_records += block.unknown_records();
  counts_.total += block.header().events - count(RecordKind::marker) - count(RecordKind::counter) -
                   count(RecordKind::attribute) - count(RecordKind::loss);
}

StreamState Stream::state_at(std::uint64_t position) const {
  if (position >= last_.position()) return last_;
  const auto after =
      std::upper_bound(keyframes_.begin(), keyframes_.end(), position,
                       [](std::uint64_t wanted, const auto& keyframe) { return wanted < keyframe->position; });
  StreamState state =
      after == keyframes_.begin() ? StreamState{} : StreamState::from_keyframe(**std::prev(after), definitions_);
  advance(state, position);
  return state;
}

void Stream::advance(StreamState& state, std::uint64_t position) const {
  state.make_heaps(definitions_);
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  for (std::size_t number = state.next_block(); number < blocks_.size(); ++number) {
    if (blocks_[number]->header.first_event > position) break;
    if (decoder.decode(*blocks_[number], decoded)) break;
    state.apply(decoded, number, definitions_, position, [](std::uint64_t, std::int64_t, std::uint32_t) {});
    if (state.next_block() == number) break;  // Stopped inside of it.
  }
}

std::uint64_t Stream::position_of_time(std::int64_t time_ns) const {
  // Blocks are in the order of the stream, whose clock may step back a little; the first block that ends later decides.
  std::uint64_t position = 0;
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  for (const wire::SharedBlock& block : blocks_) {
    if (block->header.last_time_ns <= time_ns) {
      position = block->end_event();
      continue;
    }
    if (decoder.decode(*block, decoded)) break;
    const auto kinds = decoded.kinds();
    std::uint64_t event = block->header.first_event;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (!wire::is_event(kinds[i])) continue;
      if (decoded.times_ns()[i] > time_ns) return event;
      ++event;
    }
    position = event;
  }
  return position;
}

std::uint64_t Stream::memory_bytes() const {
  std::uint64_t bytes = encoded_bytes() + blocks_.capacity() * sizeof(blocks_.front()) + definitions_.memory_bytes();
  for (const auto& keyframe : keyframes_) bytes += keyframe->memory_bytes();
  return bytes + counters_.memory_bytes() + attributes_.memory_bytes();
}

std::uint64_t Stream::encoded_bytes() const {
  std::uint64_t bytes = 0;
  for (const wire::SharedBlock& block : blocks_) bytes += block->payload.size() + sizeof(wire::Block);
  return bytes;
}

}  // namespace hbmscope
