#include "analysis/trace/stream.h"

#include <algorithm>

namespace hbmscope {
namespace {

// Keyframes may cost this many bytes an event, so that a trace with many live blocks has them farther apart.
constexpr std::uint64_t keyframe_bytes_per_event = 6;
// A keyframe is one block, which has a limit.
constexpr std::uint64_t keyframe_blocks_max = wire::block_records_max / 4;

}  // namespace

std::optional<std::string> Stream::append(wire::SharedBlock block) {
  wire::DecodedBlock& decoded = growth_->decoded;
  StreamState& last = growth_->last;
  if (auto fault = growth_->decoder.decode(*block, decoded)) {
    ++has_.counts.damaged_blocks;
    return fault;
  }
  if (block->header.type != wire::BlockType::events) return std::nullopt;
  if (block->header.first_event < last.position()) return "a block of events that were there before";
  has_.counts.lost += block->header.first_event - last.position();
  // Blocks may also be missing that had no events.
  if (block->header.sequence > growth_->next_sequence)
    has_.counts.missing_blocks += block->header.sequence - growth_->next_sequence;
  growth_->next_sequence = block->header.sequence + 1;
  has_.definitions.add(decoded);
  note(decoded);
  has_.peaks.resize(has_.definitions.heaps().size());
  has_.timelines.resize(has_.definitions.heaps().size());
  last.make_heaps(has_.definitions);
  const std::size_t number = has_.blocks.size();
  has_.blocks.push_back(std::move(block));
  last.apply(decoded, number, has_.definitions, ~std::uint64_t{0},
             [&](std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) {
               const HeapState& state = last.heap(heap);
               HeapPeak& peak = has_.peaks[heap];
               if (state.in_use_bytes > peak.in_use_bytes) peak = {state.in_use_bytes, position, time_ns};
               has_.timelines[heap].add(position, time_ns, state);
             });
  has_.end_position = last.position();
  keep_keyframe();
  return std::nullopt;
}

Stream Stream::version() const {
  return Stream(has_);
}

const Timeline& Stream::timeline(std::uint32_t heap) const {
  static const Timeline none;
  return heap < has_.timelines.size() ? has_.timelines[heap] : none;
}

void Stream::keep_keyframe() {
  const StreamState& last = growth_->last;
  const std::uint64_t since = last.position() - (has_.keyframes.empty() ? 0 : has_.keyframes.back()->position);
  if (since < growth_->keyframe_events || last.slot_count() > keyframe_blocks_max) return;
  auto keyframe = std::make_shared<const Keyframe>(last.make_keyframe(growth_->keyframe_encoder));
  growth_->keyframe_events =
      std::max<std::uint64_t>(wire::block_events_max, keyframe->memory_bytes() / keyframe_bytes_per_event);
  has_.keyframes.push_back(std::move(keyframe));
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
        has_.failures.push_back(failure);
        break;
      }
      case RecordKind::driver_refusal: {
        const auto& record = block.rows<wire::DriverRefusalRecord>()[row];
        has_.failures.push_back(
            {event, times[i], record.asked, std::nullopt, record.heap, record.stack, record.call, false});
        break;
      }
      case RecordKind::marker: {
        const auto& record = block.rows<wire::MarkerRecord>()[row];
        has_.marks.push_back({event, times[i], record.name, record.device, record.phase});
        break;
      }
      case RecordKind::loss:
        has_.counts.lost += std::max<std::uint64_t>(1, block.rows<wire::LossRecord>()[row].count);
        break;
      default: break;
    }
    if (!wire::is_event(kinds[i])) continue;
    if (!has_.has_events) has_.first_time_ns = has_.last_time_ns = times[i];
    has_.has_events = true;
    has_.last_time_ns = std::max(has_.last_time_ns, times[i]);
    ++event;
  }
  const auto count = [&](RecordKind kind) { return rows[static_cast<std::size_t>(kind)]; };
  has_.counts.alloc += count(RecordKind::alloc);
  has_.counts.free += count(RecordKind::free) + count(RecordKind::free_at);
  has_.counts.driver_refusals += count(RecordKind::driver_refusal);
  has_.counts.out_of_memory += count(RecordKind::out_of_memory);
  has_.counts.unknown_records += block.unknown_records();
  has_.counts.total += block.header().events - count(RecordKind::marker) - count(RecordKind::counter) -
                       count(RecordKind::attribute) - count(RecordKind::loss);
}

StreamState Stream::state_at(std::uint64_t position) const {
  if (position >= has_.end_position && growth_ != nullptr) return growth_->last;
  const auto after =
      std::upper_bound(has_.keyframes.begin(), has_.keyframes.end(), position,
                       [](std::uint64_t wanted, const auto& keyframe) { return wanted < keyframe->position; });
  StreamState state = after == has_.keyframes.begin()
                          ? StreamState{}
                          : StreamState::from_keyframe(**std::prev(after), has_.definitions);
  advance(state, position);
  return state;
}

void Stream::advance(StreamState& state, std::uint64_t position) const {
  state.make_heaps(has_.definitions);
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  for (std::size_t number = state.next_block(); number < has_.blocks.size(); ++number) {
    if (has_.blocks[number]->header.first_event > position) break;
    if (decoder.decode(*has_.blocks[number], decoded)) break;
    state.apply(decoded, number, has_.definitions, position, [](std::uint64_t, std::int64_t, std::uint32_t) {});
    if (state.next_block() == number) break;  // Stopped inside of it.
  }
}

std::uint64_t Stream::position_of_time(std::int64_t time_ns) const {
  // Blocks are in the order of the stream, whose clock may step back a little; the first block that ends later decides.
  std::uint64_t position = 0;
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  for (const wire::SharedBlock& block : has_.blocks) {
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
  std::uint64_t bytes =
      encoded_bytes() + has_.blocks.capacity() * sizeof(wire::SharedBlock) + has_.definitions.memory_bytes();
  for (const auto& keyframe : has_.keyframes) bytes += keyframe->memory_bytes();
  for (const Timeline& timeline : has_.timelines) bytes += timeline.memory_bytes();
  return bytes;
}

std::uint64_t Stream::encoded_bytes() const {
  std::uint64_t bytes = 0;
  for (const wire::SharedBlock& block : has_.blocks) bytes += block->payload.size() + sizeof(wire::Block);
  return bytes;
}

}  // namespace hbmscope
