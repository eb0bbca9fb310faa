// States to keyframes and back. A copy of a state takes some 150 bytes a live block; as columns it takes about ten.
#include <cstdlib>
#include <optional>

#include "analysis/heap/address_space_builder.h"
#include "analysis/trace/net_changes.h"
#include "analysis/trace/stream_state.h"

namespace hbmscope {
namespace {

wire::LiveRecord record_from_block(const LiveBlock& block, bool is_loose) {
  wire::LiveRecord record;
  record.address = block.address;
  record.size = block.size;
  record.requested = block.requested;
  record.event = block.event;
  record.heap = block.heap;
  record.slot = block.slot;
  record.stack = block.stack;
  record.stream = block.stream;
  record.tag = block.tag;
  record.flags = block.flags | (is_loose ? wire::block_flag::is_loose : 0);
  return record;
}

// One that can't be decoded is a defect: who keeps keyframes and blocks sees to it that they can be.
void decode_own(wire::BlockDecoder& decoder, const wire::Block& block, wire::DecodedBlock& out) {
  if (decoder.decode(block, out)) std::abort();
}

}  // namespace

// Rows on their way into one block after the other.
class StreamState::KeyframeRows {
 public:
  KeyframeRows(wire::BlockEncoder& encoder, std::vector<wire::Block>& blocks) : encoder_(encoder), blocks_(blocks) {}
  ~KeyframeRows() {
    if (rows_ > 0) blocks_.push_back(encoder_.close());
  }
  KeyframeRows(const KeyframeRows&) = delete;
  KeyframeRows& operator=(const KeyframeRows&) = delete;

  template <class Record>
  void add(const Record& record) {
    encoder_.add(record, 0);
    if (++rows_ < Keyframe::rows_max) return;
    blocks_.push_back(encoder_.close());
    rows_ = 0;
  }

 private:
  wire::BlockEncoder& encoder_;
  std::vector<wire::Block>& blocks_;
  std::size_t rows_ = 0;
};

void StreamState::list_regions(std::uint32_t id, KeyframeRows& out) const {
  heaps_[id].space.for_each_region([&](AddressRange range, Joining joining) {
    wire::RegionLiveRecord record;
    record.address = range.begin;
    record.size = range.size();
    record.heap = id;
    record.flags = joining == Joining::with_neighbours ? wire::region_flag::joins_neighbours : 0;
    out.add(record);
  });
}

// In the order of addresses, so that each is taken from the beginning of what is free when it comes back. Loose ones
// last, marked: what was in their way may be gone by now.
void StreamState::list_blocks(std::uint32_t id, std::span<const std::uint32_t> slots, KeyframeRows& out) const {
  const AddressSpace& space = heaps_[id].space;
  constexpr std::uint32_t no_slot = 0xffffffff;
  std::vector<std::uint32_t> slot_of_place(space.block_index_bound(), no_slot);
  for (const std::uint32_t slot : slots) slot_of_place[static_cast<std::size_t>(slots_[slot].place)] = slot;
  space.for_each_chunk([&](const HeapChunk& chunk) {
    if (chunk.state == ChunkState::free) return;
    std::uint32_t& slot = slot_of_place[static_cast<std::size_t>(chunk.block)];
    if (slot == no_slot) return;
    out.add(record_from_block(block_in(slot), false));
    slot = no_slot;
  });
  for (const std::uint32_t slot : slots)
    if (slot_of_place[static_cast<std::size_t>(slots_[slot].place)] == slot)
      out.add(record_from_block(block_in(slot), true));
}

std::size_t StreamState::region_count() const {
  std::size_t regions = 0;
  for (const HeapState& heap : heaps_) regions += heap.space.regions();
  return regions;
}

Keyframe StreamState::make_keyframe(wire::BlockEncoder& encoder) const {
  Keyframe keyframe;
  // Slots by heap, each heap's in their order.
  std::vector<std::size_t> ends(heaps_.size() + 1);
  for (const Slot& slot : slots_) ++ends[slot.heap];
  for (std::size_t heap = 1; heap < ends.size(); ++heap) ends[heap] += ends[heap - 1];
  std::vector<std::uint32_t> by_heap(slots_.size());
  for (std::size_t slot = slots_.size(); slot-- > 0;)
    by_heap[--ends[slots_[slot].heap]] = static_cast<std::uint32_t>(slot);
  {
    KeyframeRows head(encoder, keyframe.head);
    for (std::uint32_t heap = 1; heap < heaps_.size(); ++heap) list_regions(heap, head);
    for (const std::uint32_t slot : free_slots_) {
      wire::FreeSlotRecord record;
      record.slot = slot;
      head.add(record);
    }
  }
  {
    KeyframeRows live(encoder, keyframe.live);
    for (std::uint32_t heap = 1; heap < heaps_.size(); ++heap)
      list_blocks(heap, std::span(by_heap).subspan(ends[heap], ends[heap + 1] - ends[heap]), live);
  }
  keyframe.next_block = next_block_;
  keyframe.next_record = next_record_;
  keyframe.next_sequence = next_sequence_;
  keyframe.slot_count = slots_.size();
  keyframe.known_heaps = known_heaps_;
  keyframe.blocks_seen = blocks_seen_;
  keyframe.position = position_;
  keyframe.time_ns = time_ns_;
  keyframe.problems = problems_;
  keyframe.physical = physical_.pack();
  for (const HeapState& heap : heaps_)
    keyframe.heaps.push_back({heap.space.problems(), heap.live_blocks, heap.space.free_chunks(), heap.is_inexact});
  return keyframe;
}

// The blocks of a keyframe, and what changed after it, heap by heap.
void StreamState::restore_blocks(const Keyframe& keyframe, wire::BlockDecoder& decoder, NetChanges& changes) {
  blocks_seen_ = keyframe.blocks_seen + changes.allocations();
  slots_.resize(changes.slot_count());
  events_.resize(changes.slot_count());
  free_slots_ = changes.free_slots();
  std::optional<AddressSpaceBuilder> builder;
  std::uint32_t heap = 0;
  const auto restore = [&](const wire::LiveRecord& block) {
    AddressSpace& space = heaps_[block.heap].space;
    if (block.heap != heap) {
      const KeyframeHeap before = block.heap < keyframe.heaps.size() ? keyframe.heaps[block.heap] : KeyframeHeap{};
      builder.emplace(space, before.blocks, before.free_chunks);
    }
    heap = block.heap;
    const bool is_loose = (block.flags & wire::block_flag::is_loose) != 0;
    fill_slot(block.slot, block, block.event, heaps_[heap],
              is_loose ? space.take_loose(block.address, block.size) : builder->append(block.address, block.size));
  };
  const auto prefetch_slot = [&](std::uint32_t slot) {
    __builtin_prefetch(&slots_[slot], 1);
    __builtin_prefetch(&events_[slot], 1);
  };
  wire::DecodedBlock decoded;
  const auto before = [&](const auto& take) {
    for (const wire::Block& block : keyframe.live) {
      decode_own(decoder, block, decoded);
      take(decoded.rows<wire::LiveRecord>());
    }
  };
  changes.for_each_live(before, restore, prefetch_slot);
  for (const std::uint32_t slot : free_slots_) slots_[slot].flags = Slot::is_vacant;
}

StreamState StreamState::from_keyframe(const Keyframe& keyframe, const Definitions& definitions,
                                       std::span<const wire::SharedBlock> plain_blocks, std::uint64_t end) {
  StreamState state;
  state.make_heaps(definitions);
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  std::vector<std::uint32_t> free_slots;
  for (const wire::Block& block : keyframe.head) {
    decode_own(decoder, block, decoded);
    for (const wire::RegionLiveRecord& region : decoded.rows<wire::RegionLiveRecord>())
      state.apply_region(region.heap, region.address, region.size, region.flags, true, definitions);
    for (const wire::FreeSlotRecord& free : decoded.rows<wire::FreeSlotRecord>()) free_slots.push_back(free.slot);
  }
  state.next_block_ = keyframe.next_block;
  state.next_record_ = keyframe.next_record;
  state.next_sequence_ = keyframe.next_sequence;
  state.position_ = keyframe.position;
  state.time_ns_ = keyframe.time_ns;
  state.known_heaps_ = keyframe.known_heaps;
  NetChanges changes(keyframe.slot_count, std::move(free_slots));
  for (const wire::SharedBlock& block : plain_blocks) {
    decode_own(decoder, *block, decoded);
    state.learn_heaps(definitions, block->header.sequence);
    const bool is_whole = changes.add(decoded, end);
    state.next_record_ = changes.next_record();
    if (state.next_record_ > 0 || is_whole) state.next_sequence_ = block->header.sequence + 1;
    if (!is_whole) break;
    ++state.next_block_;
  }
  if (changes.position() > 0) {
    state.position_ = changes.position();
    state.time_ns_ = changes.time_ns();
  }
  state.restore_blocks(keyframe, decoder, changes);
  state.problems_ = keyframe.problems;
  state.physical_ = PhysicalState::unpack(keyframe.physical);
  for (std::size_t heap = 0; heap < keyframe.heaps.size(); ++heap) {
    state.heaps_[heap].is_inexact = keyframe.heaps[heap].is_inexact;
    state.heaps_[heap].space.set_problems(keyframe.heaps[heap].problems);
  }
  return state;
}

}  // namespace hbmscope
