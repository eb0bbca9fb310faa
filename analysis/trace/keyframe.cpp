// Converts states to keyframes and back. A copy of a state takes about 100 bytes per live block; packed it takes about
// nine.
#include "analysis/trace/keyframe.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <future>
#include <optional>
#include <system_error>

#include "analysis/heap/address_space_builder.h"
#include "analysis/trace/decoding.h"
#include "analysis/trace/net_changes.h"
#include "analysis/trace/radix_sort.h"

namespace hbmscope {
namespace {

constexpr std::size_t blocks_to_share = 100'000;
#ifdef __EMSCRIPTEN__
constexpr bool has_threads = false;
#else
constexpr bool has_threads = true;
#endif

// On another thread; nothing if there can be no more threads.
std::future<PackedBlocks> start_or_not(const std::function<PackedBlocks()>& pack) {
  try {
    return std::async(std::launch::async, pack);
  } catch (const std::system_error&) {
    return {};
  }
}

// A block that can't be decoded is a bug: the owner of keyframes and blocks guarantees that they can be.
void decode_own(Decoding& decoding, const wire::Block& block) {
  if (decoding.decode(block)) std::abort();
}

}  // namespace

void StreamState::list_regions(wire::BlockEncoder& encoder, std::vector<wire::Block>& blocks) const {
  std::size_t rows = 0;
  for (std::uint32_t heap = 1; heap < heaps_.size(); ++heap)
    heaps_[heap].space.for_each_region([&](AddressRange range, Joining joining) {
      wire::RegionLiveRecord record;
      record.address = range.begin;
      record.size = range.size();
      record.heap = heap;
      record.flags = joining == Joining::with_neighbours ? wire::region_flag::joins_neighbours : 0;
      encoder.add(record, 0);
      if (++rows % Keyframe::rows_max == 0) blocks.push_back(encoder.close());
    });
  if (!encoder.is_empty()) blocks.push_back(encoder.close());
}

// In address order, so that restoring takes each block from the beginning of the free space. Loose blocks come last and
// are marked as loose, because whatever made them loose may be gone by now.
void StreamState::list_blocks_of(std::uint32_t id, std::span<const std::uint32_t> slots, PackedBlocks& out) const {
  constexpr std::size_t ahead = 16;
  const AddressSpace& space = heaps_[id].space;
  const std::vector<Details>& details = details_[id];
  struct Listed {
    std::uint64_t address;
    std::uint32_t slot;
    BlockIndex place;
  };
  const auto add = [&](const Listed& listed, std::uint32_t more_flags, PackedBlocks& to) {
    const Slot& slot = slots_[listed.slot];
    const Details& known = details[static_cast<std::size_t>(listed.place)];
    wire::LiveRecord record;
    record.address = listed.address;
    record.size = space.range_of(listed.place).size();
    record.requested = slot.requested;
    record.event = known.event;
    record.heap = id;
    record.slot = listed.slot;
    record.stack = known.stack;
    record.stream = known.stream;
    record.tag = known.tag;
    record.flags = known.flags | more_flags | (slot.is_pending != 0 ? wire::block_flag::is_pending : 0);
    to.add(record);
  };
  std::vector<Listed> inside, loose;
  inside.reserve(slots.size());
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (i + ahead < slots.size()) space.prefetch(slots_[slots[i + ahead]].place);
    const BlockIndex place = slots_[slots[i]].place;
    const Listed listed{space.range_of(place).begin, slots[i], place};
    bits |= listed.address ^ (inside.empty() ? listed : inside.front()).address;
    (space.is_loose(place) ? loose : inside).push_back(listed);
  }
  std::vector<Listed> scratch_memory(inside.size());
  std::span<Listed> sorted(inside), scratch(scratch_memory);
  radix_sort(sorted, scratch, bits, [](const Listed& listed) { return listed.address; });
  const auto add_all = [&](std::span<const Listed> some, PackedBlocks& to) {
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (i + ahead < some.size()) {
        const Listed& later = some[i + ahead];
        __builtin_prefetch(&slots_[later.slot]);
        __builtin_prefetch(&details[static_cast<std::size_t>(later.place)]);
        space.prefetch(later.place);
      }
      add(some[i], 0, to);
    }
  };
  // The reader of a file waits for this, and has a processor to spare.
  std::future<PackedBlocks> second_half;
  const std::size_t half = sorted.size() / 2;
  if (has_threads && sorted.size() >= blocks_to_share) {
    second_half = start_or_not([&, half] {
      PackedBlocks packed(position_);
      add_all(sorted.subspan(half), packed);
      packed.finish();
      return packed;
    });
  }
  add_all(second_half.valid() ? sorted.first(half) : sorted, out);
  if (second_half.valid()) out.append(second_half.get());
  for (const Listed& listed : loose) add(listed, wire::block_flag::is_loose, out);
}

std::size_t StreamState::region_count() const {
  std::size_t regions = 0;
  for (const HeapState& heap : heaps_) regions += heap.space.regions();
  return regions;
}

// Heap by heap, in slot order.
PackedBlocks StreamState::list_blocks() const {
  std::vector<std::size_t> ends(heaps_.size() + 1);
  for (const Slot& slot : slots_) ++ends[slot.heap];
  for (std::size_t heap = 1; heap < ends.size(); ++heap) ends[heap] += ends[heap - 1];
  std::vector<std::uint32_t> by_heap(slots_.size());
  for (std::size_t slot = slots_.size(); slot-- > 0;)
    by_heap[--ends[slots_[slot].heap]] = static_cast<std::uint32_t>(slot);
  PackedBlocks packed(position_);
  for (std::uint32_t heap = 1; heap < heaps_.size(); ++heap)
    list_blocks_of(heap, std::span(by_heap).subspan(ends[heap], ends[heap + 1] - ends[heap]), packed);
  packed.finish();
  return packed;
}

Keyframe StreamState::make_keyframe(wire::BlockEncoder& encoder) const {
  Keyframe keyframe;
  list_regions(encoder, keyframe.regions);
  keyframe.live = list_blocks();
  keyframe.free_slots = pack_slots(free_slots_);
  keyframe.free_slot_count = free_slots_.size();
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
    keyframe.heaps.push_back(
        {heap.space.problems(), heap.live_blocks, heap.space.free_chunks(), heap.is_inexact, heap.inexact_since_ns});
  return keyframe;
}

// Restores some hundred blocks of one heap, in the order that the builder requires. Memory is written sequentially, one
// array after the other: tags, then details, then slots, which are scattered.
void StreamState::restore_some(std::uint32_t id, const LiveColumns& columns, std::span<const std::uint16_t> rows,
                               AddressSpaceBuilder& builder) {
  constexpr std::size_t ahead = 16;
  std::array<AddressSpaceBuilder::Block, LiveColumns::rows_max> placed;
  std::size_t inside = rows.size();
  while (inside > 0 && (columns.flags[rows[inside - 1]] & wire::block_flag::is_loose) != 0) --inside;
  for (std::size_t i = 0; i < inside; ++i)
    placed[i] = {columns.address[rows[i]], columns.size[rows[i]], BlockIndex::none};
  builder.append(std::span(placed).first(inside));
  HeapState& heap = heaps_[id];
  for (std::size_t i = inside; i < rows.size(); ++i)
    placed[i].place = heap.space.take_loose(columns.address[rows[i]], columns.size[rows[i]]);
  std::vector<Details>& details = details_[id];
  details.resize(heap.space.block_index_bound());
  const std::size_t room = details.capacity() - details.size();  // For the next ones.
  for (std::size_t i = 0; i < std::min(rows.size(), room); i += 2)
    __builtin_prefetch(details.data() + details.size() + i, 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t row = rows[i];
    details[static_cast<std::size_t>(placed[i].place)] = {columns.event[row], columns.stack[row], columns.stream[row],
                                                          columns.tag[row], columns.flags[row] & ~elsewhere_flags};
  }
  HeapSums sums = heap;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t row = rows[i];
    if (i + ahead < rows.size()) __builtin_prefetch(&slots_[columns.slot[rows[i + ahead]]], 1);
    // A loose block may have an impossible size.
    const std::uint64_t size = i < inside ? placed[i].size : heap.space.range_of(placed[i].place).size();
    const bool is_pending = (columns.flags[row] & wire::block_flag::is_pending) != 0;
    fill_slot(slots_[columns.slot[row]], id, columns.requested[row], is_pending, placed[i].place, size, sums);
  }
  static_cast<HeapSums&>(heap) = sums;
}

// Restores the blocks of a keyframe and the later changes, heap by heap.
void StreamState::restore_blocks(const Keyframe& keyframe, const NetChanges& changes) {
  blocks_seen_ = keyframe.blocks_seen + changes.allocations();
  slots_.resize(changes.slot_count());
  free_slots_ = changes.free_slots();
  std::optional<AddressSpaceBuilder> builder;
  std::uint32_t heap = 0;
  changes.for_each_live(
      keyframe.live, [&](std::uint32_t next, const LiveColumns& columns, std::span<const std::uint16_t> rows) {
        if (next != heap) {
          heap = next;
          const KeyframeHeap before = heap < keyframe.heaps.size() ? keyframe.heaps[heap] : KeyframeHeap{};
          const std::size_t most = before.blocks + changes.added_blocks(heap);
          builder.emplace(heaps_[heap].space, most, before.free_chunks);
          details_[heap].reserve(most + before.free_chunks);
        }
        restore_some(heap, columns, rows, *builder);
      });
  for (const std::uint32_t slot : free_slots_) slots_[slot].is_vacant = 1;
}

StreamState StreamState::from_keyframe(const Keyframe& keyframe, const Definitions& definitions,
                                       std::span<const wire::SharedBlock> plain_blocks, std::uint64_t end) {
  StreamState state;
  state.make_heaps(definitions);
  Decoding& decoding = Decoding::of_this_thread();
  for (const wire::Block& block : keyframe.regions) {
    decode_own(decoding, block);
    for (const wire::RegionLiveRecord& region : decoding.rows().rows<wire::RegionLiveRecord>())
      state.apply_region(region.heap, region.address, region.size, region.flags, true, definitions);
  }
  state.next_block_ = keyframe.next_block;
  state.next_record_ = keyframe.next_record;
  state.next_sequence_ = keyframe.next_sequence;
  state.position_ = keyframe.position;
  state.time_ns_ = keyframe.time_ns;
  state.known_heaps_ = keyframe.known_heaps;
  const std::uint64_t end_of_all = plain_blocks.empty() ? 0 : plain_blocks.back()->end_event();
  const std::size_t events =
      end_of_all > keyframe.position ? static_cast<std::size_t>(end_of_all - keyframe.position) : 0;
  NetChanges changes(keyframe.slot_count, unpack_slots(keyframe.free_slots, keyframe.free_slot_count), events);
  // Only the time of the last event is needed.
  const wire::FieldChoice everything, no_times = wire::FieldChoice().without_times();
  const wire::Block* timed = nullptr;
  for (const wire::SharedBlock& block : plain_blocks)
    if (block->header.events > 0 && block->header.first_event < end) timed = block.get();
  for (const wire::SharedBlock& block : plain_blocks) {
    state.learn_heaps(definitions, block->header.sequence);
    if (block->header.events == 0) {  // Only definitions, which were added before.
      state.next_sequence_ = block->header.sequence + 1;
      ++state.next_block_;
      continue;
    }
    if (std::max(block->header.first_event, keyframe.position) >= end) break;  // Nothing in it is needed.
    // A block that can't be decoded was spilled to a file that can't be read back; advance() handles it.
    if (decoding.decode(*block, block.get() == timed ? everything : no_times)) break;
    const std::size_t begin = block.get() == plain_blocks.front().get() ? keyframe.next_record : 0;
    const bool is_whole = changes.add(decoding.rows(), begin, end);
    state.next_record_ = changes.next_record();
    state.next_sequence_ = block->header.sequence + 1;
    if (!is_whole) break;
    ++state.next_block_;
  }
  changes.finish();
  if (changes.position() > 0) {
    state.position_ = changes.position();
    state.time_ns_ = changes.time_ns();
  }
  state.restore_blocks(keyframe, changes);
  state.problems_ = keyframe.problems;
  state.physical_ = PhysicalState::unpack(keyframe.physical);
  for (std::size_t heap = 0; heap < keyframe.heaps.size(); ++heap) {
    state.heaps_[heap].is_inexact = keyframe.heaps[heap].is_inexact;
    state.heaps_[heap].inexact_since_ns = keyframe.heaps[heap].inexact_since_ns;
    state.heaps_[heap].space.set_problems(keyframe.heaps[heap].problems);
  }
  return state;
}

}  // namespace hbmscope
