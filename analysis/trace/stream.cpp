#include "analysis/trace/stream.h"

#include <algorithm>

#include "analysis/trace/apply_block.h"
#include "analysis/trace/decoding.h"
#include "analysis/trace/keyframe.h"
#include "analysis/trace/net_changes.h"
#include "analysis/trace/unanswered_refusals.h"
#include "collector/wire/wire.h"

namespace hbmscope {
namespace {

// The budget for keyframes in bytes per event. A trace with many live blocks has larger keyframes, farther apart.
constexpr std::uint64_t keyframe_bytes_per_event = 9;
constexpr std::uint64_t sparing_events_per_byte = 4;

// May a block that contains this kind of record have plain sizes (Stream::end_of_plain_sizes)?
bool has_plain_sizes(std::uint8_t kind) {
  using enum wire::RecordKind;
  return NetChanges::is_plain(kind) || wire::RecordKind{kind} == region_grow || wire::RecordKind{kind} == region_shrink;
}

// Whether Stream, StreamState, PhysicalState or Definitions keep this record; others are counted as passed over.
bool is_held(const wire::RecordDescription* record, wire::BlockType type) {
  if (record == nullptr || record->role == wire::RecordRole::passed_over) return false;
  return record->role != wire::RecordRole::keyframe || type == wire::BlockType::keyframe;
}

}  // namespace

// An attribute follows its allocation. Allocations from before the stream may get attributes at any time.
std::vector<Attribute> AttributeTable::find(std::uint64_t allocation) const {
  const std::uint64_t since = allocation == wire::before_the_stream ? 0 : allocation;
  auto row = std::lower_bound(rows_.begin(), rows_.end(), since,
                              [](const Attribute& attribute, std::uint64_t event) { return attribute.event < event; });
  std::vector<Attribute> found;
  std::copy_if(row, rows_.end(), std::back_inserter(found),
               [&](const Attribute& attribute) { return attribute.allocation == allocation; });
  return found;
}

std::optional<std::string> Stream::append(wire::SharedBlock block, Gap gap) {
  wire::DecodedBlock& decoded = growth_->decoded;
  StreamState& last = growth_->last;
  const bool has_curves = growth_->keeps == Keeps::curves;
  if (auto fault = growth_->decoder.decode(*block, decoded, has_curves ? UseState::fields() : wire::FieldChoice())) {
    ++has_.counts.damaged_blocks;
    return fault;
  }
  const bool is_keyframe = block->header.type == wire::BlockType::keyframe;
  if (!is_keyframe && block->header.type != wire::BlockType::events) return std::nullopt;
  if (is_keyframe && block->header.events > 0) return "a keyframe with events in it";
  if (has_curves) {
    append_to_curves(decoded);
    return std::nullopt;
  }
  if (is_keyframe && !last.takes_keyframe(block->header)) return std::nullopt;
  if (block->header.first_event < last.position()) return "a block of events that were there before";
  const bool follows =
      !is_keyframe && block->header.first_event == last.position() && block->header.sequence == growth_->next_sequence;
  note_gap(block->header, gap);
  if (is_keyframe) ++has_.keyframe_blocks;
  growth_->next_sequence = block->header.sequence + (is_keyframe ? 0 : 1);
  has_.definitions.add(decoded);
  const RecordCounts counts = note(decoded);
  // Definitions change no heap. Blocks with fewer events than heaps are not plain: checking every heap after so few
  // events would cost more than all the rest.
  bool is_plain = follows && (block->header.events == 0 || has_.definitions.heaps().size() <= block->header.events);
  bool are_sizes_plain = is_plain;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    is_plain &= counts[kind] == 0 || NetChanges::is_plain(static_cast<std::uint8_t>(kind));
    are_sizes_plain &= counts[kind] == 0 || has_plain_sizes(static_cast<std::uint8_t>(kind));
  }
  has_.peaks.resize(has_.definitions.heaps().size());
  has_.inexact_peaks.resize(has_.definitions.heaps().size());
  has_.timelines.resize(has_.definitions.heaps().size());
  has_.use_at_marks.make_heaps(has_.definitions.heaps().size());
  last.make_heaps(has_.definitions);
  const std::size_t number = has_.blocks.size();
  const bool may_find_problems = are_sizes_plain && block->header.events > 0;
  const std::uint64_t problems = may_find_problems ? last.count_problems() : 0,
                      size_problems = may_find_problems ? last.count_size_problems() : 0;
  growth_->block_bytes += block->payload.size() + sizeof(wire::Block);
  has_.blocks.push_back(std::move(block));
  const auto note_event = [&](std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) {
    note_marks_before(position);
    has_.use_at_marks.note_change(heap, last.in_use_bytes(heap));
    note_peak(heap, position, time_ns);
    has_.timelines[heap].add(position, time_ns, last, heap);
  };
  // If a keyframe is due in the first half of a plain block, make it right there, otherwise at the block's end: a seek
  // would decode the whole block to skip less than half of it.
  const wire::BlockHeader& header = has_.blocks.back()->header;
  if (const std::uint64_t due = next_keyframe_position(); is_plain && due < header.first_event + header.events / 2) {
    last.apply(decoded, number, has_.definitions, due, note_event);
    keep_keyframe();
  }
  last.apply(decoded, number, has_.definitions, ~std::uint64_t{0}, note_event);
  note_marks_before(last.position() + 1);
  if (may_find_problems) {
    is_plain &= last.count_problems() == problems;
    are_sizes_plain &= last.count_size_problems() == size_problems;
  }
  has_.plain_blocks.push_back(static_cast<std::uint8_t>((is_plain ? plain : 0) | (are_sizes_plain ? plain_sizes : 0)));
  has_.end_position = last.position();
  if (!is_keyframe && last.position() >= next_keyframe_position()) keep_keyframe();
  return std::nullopt;
}

void Stream::append_to_curves(const wire::DecodedBlock& block) {
  if (growth_->needs_everything) return;
  const bool had_times = has_.has_times;
  if (block.header().type == wire::BlockType::events) {
    has_.definitions.add(block);
    note(block);
  }
  if (!had_times && has_.has_times)
    for (UseCurve& curve : has_.curves) curve.gather_at(block.header().first_time_ns);
  has_.peaks.resize(has_.definitions.heaps().size());
  has_.inexact_peaks.resize(has_.definitions.heaps().size());
  has_.curves.resize(has_.definitions.heaps().size());
  const auto contradicts_itself = [](const HeapInfo& heap) { return heap.has(wire::heap_flag::contradicts_itself); };
  const auto heaps = has_.definitions.heaps();
  growth_->needs_everything = std::any_of(heaps.begin(), heaps.end(), contradicts_itself);
  if (growth_->needs_everything) return;
  growth_->needs_everything = !growth_->use.apply(
      block, has_.definitions,
      [this](std::uint64_t position, std::int64_t time_ns, std::uint32_t heap, std::uint64_t in_use) {
        if (in_use > has_.peaks[heap].in_use_bytes) has_.peaks[heap] = {in_use, position, time_ns};
        has_.curves[heap].add(has_.has_times ? time_ns : static_cast<std::int64_t>(position), in_use);
      });
  has_.end_position = growth_->use.position();
}

void Stream::note_gap(const wire::BlockHeader& header, Gap gap) {
  const std::uint64_t events = header.first_event - growth_->last.position();
  if (gap == Gap::lost) {
    has_.counts.lost += events;
    // Blocks without events may be missing too.
    if (header.sequence > growth_->next_sequence)
      has_.counts.missing_blocks += header.sequence - growth_->next_sequence;
    return;
  }
  has_.counts.skipped += events;
  if (events > 0 && has_.has_events && header.first_time_ns > has_.last_time_ns)
    has_.losses.push_back({has_.last_time_ns, header.first_time_ns, 0, true});
}

void Stream::note_peak(std::uint32_t heap, std::uint64_t position, std::int64_t time_ns) {
  const StreamState& last = growth_->last;
  const std::uint64_t in_use = last.in_use_bytes(heap);
  if (in_use <= has_.peaks[heap].in_use_bytes) return;
  if (!last.is_inexact(heap)) {
    has_.peaks[heap] = {in_use, position, time_ns};
    return;
  }
  InexactPeak& inexact = has_.inexact_peaks[heap];
  const std::int64_t since_ns = last.inexact_since_ns(heap);
  if (inexact.since_ns != since_ns || in_use > inexact.peak.in_use_bytes)
    inexact = {{in_use, position, time_ns, true}, since_ns};
}

// Those whose events lie before the one that led to this position: the state is already one after it.
void Stream::note_marks_before(std::uint64_t position) {
  for (; growth_->next_mark < has_.marks.size(); ++growth_->next_mark) {
    const std::uint64_t event = has_.marks[growth_->next_mark].event;
    if (event >= position) return;
    has_.use_at_marks.note_mark(event);
  }
}

bool Stream::contradicts_itself(std::uint32_t heap) const {
  return has_.definitions.heap(heap).has(wire::heap_flag::contradicts_itself);
}

// The next listing corrects whatever was counted between a loss and it. If the source contradicts itself, there is
// nothing better than the counted figures.
bool Stream::keeps_inexact_peak(std::uint32_t heap) const {
  if (growth_ == nullptr || contradicts_itself(heap)) return true;
  const StreamState& last = growth_->last;
  // An earlier loss was corrected, even if nothing as high followed the last one.
  return last.is_inexact(heap) && last.inexact_since_ns(heap) == has_.inexact_peaks[heap].since_ns;
}

HeapPeak Stream::peak(std::uint32_t heap) const {
  if (heap >= has_.peaks.size()) return {};
  const HeapPeak &exact = has_.peaks[heap], &inexact = has_.inexact_peaks[heap].peak;
  HeapPeak peak = keeps_inexact_peak(heap) && inexact.in_use_bytes > exact.in_use_bytes ? inexact : exact;
  peak.is_minimum = !peak.is_inexact && !contradicts_itself(heap) &&
                    has_.definitions.heap(heap).has(wire::heap_flag::peak_is_minimum);
  peak.is_inexact = peak.is_inexact || contradicts_itself(heap) || peak.is_minimum;
  return peak;
}

void Stream::spare_memory() {
  if (growth_->is_sparing) return;
  growth_->is_sparing = true;
  if (!has_.keyframes.empty()) growth_->keyframe_events = events_between(*has_.keyframes.back());
}

// Spaces the next keyframe, about as large as this one, so that all of them stay within the byte budget, but no farther
// than if this were the only one.
std::uint64_t Stream::events_between(const Keyframe& keyframe) const {
  const std::uint64_t size = keyframe.memory_bytes();
  if (growth_->is_sparing) return std::max<std::uint64_t>(keyframe_events_min, size * sparing_events_per_byte);
  const std::uint64_t room_at =
      std::max(keyframe.position, (growth_->keyframe_bytes + size) / keyframe_bytes_per_event);
  const std::uint64_t allowed = std::min(room_at - keyframe.position, size / keyframe_bytes_per_event);
  return std::max(keyframe_events_min, allowed);
}

void Stream::note_written(std::uint64_t end_event, std::uint64_t blocks) {
  if (growth_->keeps == Keeps::curves) {
    growth_->needs_everything |= end_event > has_.end_position || blocks > growth_->use.blocks();
    return;
  }
  const std::uint64_t found = has_.blocks.size() - has_.keyframe_blocks + has_.counts.missing_blocks;
  if (blocks > found) {
    has_.blocks_lost_at_end = blocks - found;
    has_.counts.missing_blocks += blocks - found;
  }
  if (end_event <= has_.end_position) return;
  has_.events_lost_at_end = end_event - has_.end_position;
  has_.counts.lost += has_.events_lost_at_end;
  has_.end_position = end_event;
  growth_->last.skip_lost(end_event);
}

void Stream::end_refusals() {
  std::vector<std::size_t> unanswered = find_unanswered_refusals(*this, Answer::any_allocation);
  std::erase_if(unanswered, [&](std::size_t index) {
    const FailureEvent& one = has_.failures[index];
    const HeapInfo& heap = has_.definitions.heap(one.heap);
    const bool is_of_pool = heap.id != 0 && heap.layer != wire::Layer::physical;  // It tells what it gives up.
    return one.is_out_of_memory || is_of_pool || has_lost_events_after(one);
  });
  if (unanswered.empty()) return;
  SharedLog<FailureEvent> failures;  // Versions share the other one.
  auto next = unanswered.begin();
  for (std::size_t i = 0; i < has_.failures.size(); ++i) {
    FailureEvent failure = has_.failures[i];
    if (next != unanswered.end() && *next == i) {
      failure.is_out_of_memory = true;
      ++has_.counts.failed_requests;
      ++next;
    }
    failures.push_back(failure);
  }
  has_.failures = std::move(failures);
}

// The answer to a refusal could be among them.
bool Stream::has_lost_events_after(const FailureEvent& failure) const {
  return has_.events_lost_at_end > 0 || has_.counts.missing_blocks > 0 || has_.counts.damaged_blocks > 0 ||
         std::any_of(has_.losses.begin(), has_.losses.end(),
                     [&](const LossStretch& loss) { return loss.until_ns >= failure.time_ns; });
}

Stream Stream::version() const {
  Contents contents = has_;
  contents.clocks = clocks();
  for (std::uint32_t heap = 0; heap < contents.inexact_peaks.size(); ++heap)
    if (!keeps_inexact_peak(heap)) contents.inexact_peaks[heap] = {};
  return Stream(std::move(contents));
}

const Timeline& Stream::timeline(std::uint32_t heap) const {
  static const Timeline none;
  return heap < has_.timelines.size() ? has_.timelines[heap] : none;
}

const UseCurve& Stream::curve(std::uint32_t heap) const {
  static const UseCurve none;
  return heap < has_.curves.size() ? has_.curves[heap] : none;
}

// The first keyframe comes early, because the events before it include whatever set up the heaps. The distance between
// two is at least the number of live blocks at either of them: restoring that many blocks costs as much as replaying
// that many events.
std::uint64_t Stream::next_keyframe_position() const {
  if (has_.keyframes.empty()) return wire::block_events_max;
  const Keyframe& before = *has_.keyframes.back();
  if (growth_->is_sparing) return before.position + growth_->keyframe_events;
  std::uint64_t live_now = 0;
  for (std::uint32_t heap = 1; heap < has_.definitions.heaps().size(); ++heap)
    live_now += growth_->last.heap(heap).live_blocks;
  return before.position + std::max(growth_->keyframe_events, std::min(before.live_blocks(), live_now));
}

void Stream::keep_keyframe() {
  auto keyframe = std::make_shared<const Keyframe>(growth_->last.make_keyframe(growth_->keyframe_encoder));
  growth_->keyframe_bytes += keyframe->memory_bytes();
  growth_->keyframe_events = events_between(*keyframe);
  has_.keyframes.push_back(std::move(keyframe));
}

void Stream::note_times(const wire::DecodedBlock& block) {
  const auto kinds = block.kinds();
  const auto times = block.times_ns();
  const bool are_all_events = block.header().records == block.header().events;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!are_all_events && !wire::is_event(kinds[i])) continue;
    if (!has_.has_events) has_.first_time_ns = has_.last_time_ns = times[i];
    has_.has_events = true;
    has_.has_times |= times[i] != 0;
    has_.last_time_ns = std::max(has_.last_time_ns, times[i]);
  }
}

// Processes the records that are kept one by one, not just counted.
void Stream::note_records(const wire::DecodedBlock& block) {
  using wire::RecordKind;
  for (RecordCursor cursor(block); !cursor.at_end();) {
    const RecordPlace place = cursor.next();
    switch (place.kind) {
      case RecordKind::out_of_memory: {
        const auto& record = block.rows<wire::OutOfMemoryRecord>()[place.row];
        note_failure(place, record, record.reason, true);
        break;
      }
      case RecordKind::driver_refusal: {
        const auto& record = block.rows<wire::DriverRefusalRecord>()[place.row];
        note_failure(place, record, record.call, false);
        break;
      }
      case RecordKind::marker: {
        const auto& record = block.rows<wire::MarkerRecord>()[place.row];
        has_.marks.push_back({place.event, place.time_ns, record.name, record.device, record.phase, record.stack});
        break;
      }
      case RecordKind::counter: {
        const auto& record = block.rows<wire::CounterRecord>()[place.row];
        has_.counters.add({record.name, record.heap}, {place.event, place.time_ns, record.value});
        break;
      }
      case RecordKind::attribute: {
        const auto& record = block.rows<wire::AttributeRecord>()[place.row];
        has_.attributes.add({record.allocation, place.event, record.key, record.value, record.stack, record.size});
        break;
      }
      case RecordKind::clock: {
        const auto& record = block.rows<wire::ClockRecord>()[place.row];
        // Skip those that a keyframe repeats.
        const auto& known = growth_->clocks.readings();
        if (block.header().type != wire::BlockType::keyframe || known.empty() || known.back().time_ns < place.time_ns)
          growth_->clocks.add({place.time_ns, record.realtime_ns, record.tsc});
        break;
      }
      case RecordKind::loss: {
        const auto& record = block.rows<wire::LossRecord>()[place.row];
        has_.counts.lost += std::max<std::uint64_t>(1, record.count);
        const auto since_ns = static_cast<std::int64_t>(record.since_ns);
        if (since_ns > 0 && since_ns < place.time_ns) has_.losses.push_back({since_ns, place.time_ns, record.heap});
        break;
      }
      default: break;
    }
  }
}

// A job that frees and takes the same memory again adds nothing. Allocators without a pool make each block a region, at
// ever new addresses: of them, the first ones must do.
void Stream::note_regions(const wire::DecodedBlock& block) {
  constexpr std::size_t regions_max = 65'536;
  const auto note_all = [&](const auto& rows) {
    for (const auto& row : rows) {
      if (growth_->regions_ever.size() == regions_max) return;
      const RegionRange one{
          row.heap, {row.address, row.address + row.size}, (row.flags & wire::region_flag::joins_neighbours) != 0};
      if (!one.range.empty() && growth_->regions_ever.insert(one).second) has_.regions_ever.push_back(one);
    }
  };
  note_all(block.rows<wire::RegionGrowRecord>());
  note_all(block.rows<wire::RegionLiveRecord>());
}

template <class Record>
void Stream::note_failure(const RecordPlace& place, const Record& record, std::uint32_t reason, bool is_out_of_memory) {
  FailureEvent failure{place.event,  place.time_ns, record.requested, std::nullopt,     record.heap,
                       record.stack, reason,        is_out_of_memory, !is_out_of_memory};
  if (record.available != wire::unknown_bytes) failure.available_bytes = record.available;
  has_.failures.push_back(failure);
}

Stream::RecordCounts Stream::note(const wire::DecodedBlock& block) {
  using wire::RecordKind;
  RecordCounts rows{};
  for (const std::uint8_t kind : block.kinds()) ++rows[kind];
  bool has_more = false;
  for (std::size_t kind = 0; kind < rows.size(); ++kind) {
    if (rows[kind] == 0) continue;
    const wire::RecordDescription* record = wire::find_record(static_cast<std::uint16_t>(kind));
    has_more |= record != nullptr && record->is_noted;
    if (!is_held(record, block.header().type)) has_.passed_over[static_cast<std::uint8_t>(kind)] += rows[kind];
  }
  if (has_more && growth_->keeps == Keeps::everything) note_records(block);
  if (growth_->keeps == Keeps::everything) note_regions(block);
  note_times(block);
  const auto count = [&](RecordKind kind) { return rows[static_cast<std::size_t>(kind)]; };
  has_.counts.alloc += count(RecordKind::alloc);
  const auto frees = block.rows<wire::FreeRecord>();
  const auto derived = static_cast<std::uint64_t>(
      std::count_if(frees.begin(), frees.end(), [](const auto& record) { return record.stack == wire::derived_free; }));
  has_.counts.free += count(RecordKind::free) + count(RecordKind::free_at) - derived;
  has_.counts.driver_refusals += count(RecordKind::driver_refusal);
  has_.counts.out_of_memory += count(RecordKind::out_of_memory);
  has_.counts.failed_requests += count(RecordKind::out_of_memory);
  has_.counts.unknown_records += block.unknown_records();
  has_.counts.total += block.header().events - count(RecordKind::marker) - count(RecordKind::counter) -
                       count(RecordKind::attribute) - count(RecordKind::loss) - derived;
  return rows;
}

std::vector<wire::SharedBlock> Stream::plain_blocks_after(const Keyframe& keyframe, std::uint64_t position) const {
  std::vector<wire::SharedBlock> blocks;
  for (std::size_t number = keyframe.next_block; number < has_.blocks.size(); ++number) {
    if ((has_.plain_blocks[number] & plain) == 0 || has_.blocks[number]->header.first_event > position) break;
    blocks.push_back(has_.blocks[number]);
  }
  return blocks;
}

std::size_t Stream::end_of_plain_sizes(std::size_t number) const {
  while (number < has_.blocks.size() && (has_.plain_blocks[number] & plain_sizes) != 0) ++number;
  return number;
}

StreamState Stream::state_at(std::uint64_t position) const {
  if (position >= has_.end_position && growth_ != nullptr) return growth_->last;
  const auto after =
      std::upper_bound(has_.keyframes.begin(), has_.keyframes.end(), position,
                       [](std::uint64_t wanted, const auto& keyframe) { return wanted < keyframe->position; });
  static const Keyframe beginning;  // Before everything, including definitions.
  const Keyframe& keyframe = after == has_.keyframes.begin() ? beginning : **std::prev(after);
  StreamState state =
      StreamState::from_keyframe(keyframe, has_.definitions, plain_blocks_after(keyframe, position), position);
  advance(state, position);
  return state;
}

void Stream::advance(StreamState& state, std::uint64_t position) const {
  state.make_heaps(has_.definitions);
  Decoding& decoding = Decoding::of_this_thread();
  for (std::size_t number = state.next_block(); number < has_.blocks.size(); ++number) {
    if (has_.blocks[number]->header.first_event > position) break;
    // The next event is in a plain block, so nothing before that event changes the state.
    if (state.position() == position && (has_.plain_blocks[number] & plain) != 0 &&
        has_.blocks[number]->header.events > 0)
      return;
    if (decoding.decode(*has_.blocks[number])) {  // It was spilled to a file that can't be read back.
      while (number + 1 < has_.blocks.size() && has_.blocks[number + 1]->header.first_event < position) ++number;
      return state.skip_unreadable(has_.definitions, has_.blocks[number]->header.sequence,
                                   std::min(position, has_.end_position));
    }
    state.apply(decoding.rows(), number, has_.definitions, position, [](std::uint64_t, std::int64_t, std::uint32_t) {});
    if (state.next_block() == number) return;  // Stopped inside this block.
  }
  if (has_.events_lost_at_end > 0 && position >= has_.end_position) state.skip_lost(has_.end_position);
}

std::uint64_t Stream::position_of_time(std::int64_t time_ns) const {
  // Blocks are in stream order, but the clock may step back a little: use the first block that ends after the time.
  std::uint64_t position = 0;
  Decoding& decoding = Decoding::of_this_thread();
  for (const wire::SharedBlock& block : has_.blocks) {
    if (block->header.last_time_ns <= time_ns) {
      position = block->end_event();
      continue;
    }
    if (block->header.type == wire::BlockType::keyframe) break;  // Inside the skipped range.
    if (decoding.decode(*block)) break;
    const auto kinds = decoding.rows().kinds();
    std::uint64_t event = block->header.first_event;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (!wire::is_event(kinds[i])) continue;
      if (decoding.rows().times_ns()[i] > time_ns) return event;
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
  return bytes + has_.counters.memory_bytes() + has_.attributes.memory_bytes() + has_.use_at_marks.memory_bytes();
}

std::uint64_t Stream::encoded_bytes() const {
  std::uint64_t bytes = 0;
  for (const wire::SharedBlock& block : has_.blocks) bytes += block->payload.size() + sizeof(wire::Block);
  return bytes;
}

}  // namespace hbmscope
