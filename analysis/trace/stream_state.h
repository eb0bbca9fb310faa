// The state of all heaps after a number of events: every live block of a stream, and the addresses and sums of each
// heap.
//
// A state changes by applying the records of a block in order. It is plain data, so a copy preserves a point in time.
// Blocks live in slots, and a free names the slot, so a state can be advanced without knowing anything older.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "analysis/heap/address_space.h"
#include "analysis/trace/definitions.h"
#include "analysis/trace/physical_state.h"
#include "collector/wire/block_decoder.h"
#include "collector/wire/block_encoder.h"

namespace hbmscope {

class AddressSpaceBuilder;
class NetChanges;
class PackedBlocks;
struct Keyframe;
struct LiveColumns;

// The contents of a slot of the writer's table.
struct LiveBlock {
  static constexpr std::uint32_t no_slot = 0xffffffff;  // Of an allocation as its record has it.

  std::uint64_t event = wire::before_the_stream;  // The allocation id.
  std::uint64_t address = 0;
  std::uint64_t size = 0;                         // The allocated size, including rounding.
  std::uint64_t requested = wire::unknown_bytes;  // The requested size.
  std::uint32_t slot = 0;
  std::uint32_t heap = 0;  // 0: the slot is empty.
  std::uint32_t stack = 0, stream = 0, tag = 0;
  std::uint32_t flags = 0;              // wire::block_flag
  BlockIndex place = BlockIndex::none;  // In its heap's AddressSpace.
  bool is_vacant = false;               // The slot waits for reuse.

  bool is_live() const { return heap != 0; }
  bool is_pending() const { return (flags & wire::block_flag::is_pending) != 0; }
  bool has_address() const { return (flags & wire::block_flag::has_no_address) == 0; }
};

// Sums over the live blocks of a heap.
struct HeapSums {
  std::uint64_t in_use_bytes = 0;     // All live blocks, including pending ones.
  std::uint64_t requested_bytes = 0;  // Blocks with a known requested size.
  std::uint64_t pending_bytes = 0;    // In use, already freed by the program.
  std::uint64_t live_blocks = 0, pending_blocks = 0, unknown_requests = 0;
};

struct HeapState : HeapSums {
  AddressSpace space{RegionsAre::unknown};
  bool is_inexact = false;            // After a loss, until the next listing.
  std::int64_t inexact_since_ns = 0;  // The time of that loss.
  bool is_listed = false;             // Something was listed since the last event.

  // Nothing if the source does not report it.
  std::optional<std::uint64_t> known_requested_bytes() const {
    return unknown_requests > 0 ? std::nullopt : std::optional(requested_bytes);
  }
};

// External fragmentation as XLA defines it: 1 - largest free / total free. Nothing if no memory is free, or if that is
// unknown.
std::optional<double> external_fragmentation(const HeapState& heap);

struct StreamProblems {
  std::uint64_t unknown_frees = 0;    // Frees at addresses without a live block.
  std::uint64_t bad_slots = 0;        // Frees of empty slots: the stream is damaged.
  std::uint64_t undefined_heaps = 0;  // Records of undefined heaps.
  std::uint64_t losses = 0;           // Events that the source reports as missing; 1 if their number is unknown.

  std::uint64_t total() const { return unknown_frees + bad_slots + undefined_heaps + losses; }
};

class StreamState {
 public:
  // Reuses the encoder's memory; the encoder must be empty, and is empty again afterwards.
  Keyframe make_keyframe(wire::BlockEncoder& encoder) const;
  // Equivalent to the state that made the keyframe. With `plain_blocks` it is also advanced: over the blocks from
  // keyframe.next_block on, the first one from keyframe.next_record, up to but not including the event `end`. They must
  // be plain: only kinds that NetChanges processes, and without problems.
  static StreamState from_keyframe(const Keyframe& keyframe, const Definitions& definitions,
                                   std::span<const wire::SharedBlock> plain_blocks = {}, std::uint64_t end = 0);

  // Applies the part of this block that the state has not seen yet, up to but not including the event `end`. Blocks
  // come in order, and `number` counts them from 0; a block before next_block() changes nothing. Definitions are
  // ignored: they were added before.
  //
  // The callbacks: `after(position, time, heap id)` after each event that changed a heap, and once for everything
  // listed of it between two events. These are optional: `after.before_free(slot)` before a free,
  // `after.before_clear(heap id)` before a heap (0: all) loses its blocks because it is gone or listed again, and
  // `after.listed(position, time, heap id)` instead of `after` for listings. Defined in apply_block.h, which only its
  // few callers include.
  template <class After>
  void apply(const wire::DecodedBlock& block, std::size_t number, const Definitions& definitions, std::uint64_t end,
             const After& after);

  // This block of a keyframe, or its keyframe, contains more than is known here: something before it is missing.
  bool takes_keyframe(const wire::BlockHeader& header) const;

  // Events up to here are missing: slots may no longer match the writer's.
  void skip_lost(std::uint64_t position) {
    note_gap();
    position_ = std::max(position_, position);
  }
  // Blocks up to here can't be read back; the last one has this sequence number. The heaps that they define become
  // unknown too.
  void skip_unreadable(const Definitions& definitions, std::uint32_t sequence, std::uint64_t position) {
    learn_heaps(definitions, sequence);
    skip_lost(position);
  }
  // Follows no regions from now on: free memory is unknown, as in heaps without reported regions. All else stays as it
  // was, and a walk of a heap with a million blocks takes half the time.
  void forget_regions();
  // A heap that is defined and was never touched is known to be empty, so nothing of it is missing.
  void make_heaps(const Definitions& definitions);

  std::uint64_t position() const { return position_; }  // Events applied.
  std::size_t next_block() const { return next_block_; }
  // That of the last event, or a later one that is shown, while nothing happened since (compute_states()).
  std::int64_t time_ns() const { return time_ns_; }
  void wait_until(std::int64_t time_ns) { time_ns_ = position_ == 0 ? time_ns : std::max(time_ns_, time_ns); }
  // All slots, including empty ones, as LiveBlocks made on access.
  class Slots;
  Slots slots() const;
  std::size_t slot_count() const { return slots_.size(); }
  std::size_t region_count() const;  // The number in all heaps.
  const HeapState& heap(std::uint32_t id) const { return id < heaps_.size() ? heaps_[id] : none_; }
  const PhysicalState& physical() const { return physical_; }
  // The memory in use of a heap: its live blocks, and the handles that it owns.
  std::uint64_t in_use_bytes(std::uint32_t id) const { return heap(id).in_use_bytes + physical_.heap(id).owned_bytes; }
  // Events of the heap, or of handles that it owns, were lost, and it was not listed since: its figures are unreliable.
  bool is_inexact(std::uint32_t id) const {
    const PhysicalBytes& physical = physical_.heap(id);
    return heap(id).is_inexact || (physical.is_inexact && physical.has_any());
  }
  // If it is inexact: the time of the first loss since it was exact.
  std::int64_t inexact_since_ns(std::uint32_t id) const { return heap(id).inexact_since_ns; }
  const StreamProblems& problems() const { return problems_; }
  // All problems so far, in any heap. An event without problems leaves the number unchanged.
  std::uint64_t count_problems() const;
  // Those of them after which a block's size isn't the reported one, or its slot isn't the writer's.
  std::uint64_t count_size_problems() const;
  // Vacant ones; the last one is taken next.
  std::span<const std::uint32_t> free_slots() const { return free_slots_; }

 private:
  // A quarter of a cache line, because frees touch one of tens of thousands at random. The heap's space holds address
  // and size.
  struct Slot {
    std::uint64_t requested = wire::unknown_bytes;
    BlockIndex place = BlockIndex::none;
    std::uint32_t heap : 30 = 0;  // 0: empty.
    std::uint32_t is_pending : 1 = 0;
    // Waits for reuse. A slot that lost its block together with the whole heap does not: the writer still holds it.
    std::uint32_t is_vacant : 1 = 0;

    static constexpr std::uint32_t heap_max = (1U << 30) - 1;  // More heaps than fit in memory.
  };
  static_assert(sizeof(Slot) == 16);
  // Facts that no free needs, by place. A state built in address order writes them sequentially.
  struct Details {
    std::uint64_t event = wire::before_the_stream;
    std::uint32_t stack = 0, stream = 0, tag = 0;
    std::uint32_t flags = 0;  // wire::block_flag, without elsewhere_flags.
  };
  static constexpr std::uint32_t elsewhere_flags = wire::block_flag::is_loose | wire::block_flag::is_pending;

  HeapState* find_heap(std::uint32_t id, const Definitions& definitions);
  std::uint32_t apply_alloc(const wire::AllocRecord& record, std::uint64_t event, const Definitions& definitions);
  std::uint32_t apply_live(const wire::LiveRecord& record, const Definitions& definitions);
  std::uint32_t apply_free(std::uint32_t slot);
  // The next frees are known, and prefetching their blocks makes a trace a third faster. Always inlined, as in
  // AddressSpace: GCC 12 considers a function that only prefetches free of effects and drops calls to it.
  template <bool with_details>
  [[gnu::always_inline]] void prefetch(std::span<const wire::FreeRecord> frees, std::size_t at) const {
    constexpr std::size_t far = 12, near = 5, next = 2;
    if (at + far >= frees.size()) return;
    if (const std::uint32_t slot = frees[at + far].slot; slot < slots_.size()) __builtin_prefetch(&slots_[slot]);
    if (const std::uint32_t slot = frees[at + near].slot; slot < slots_.size() && slots_[slot].heap < heaps_.size()) {
      heaps_[slots_[slot].heap].space.prefetch(slots_[slot].place);
      const auto& details = details_[slots_[slot].heap];
      if (const auto place = static_cast<std::size_t>(slots_[slot].place); with_details && place < details.size())
        __builtin_prefetch(&details[place]);
    }
    if (const std::uint32_t slot = frees[at + next].slot; slot < slots_.size() && slots_[slot].heap < heaps_.size())
      heaps_[slots_[slot].heap].space.prefetch_neighbours(slots_[slot].place);
  }
  [[gnu::always_inline]] void prefetch(std::span<const wire::AllocRecord> allocs, std::size_t at) const {
    constexpr std::size_t far = 8, near = 3;
    if (at + far >= allocs.size()) return;
    if (const wire::AllocRecord& later = allocs[at + far]; later.heap < heaps_.size())
      heaps_[later.heap].space.prefetch_take(later.address, later.size);
    if (const wire::AllocRecord& later = allocs[at + near]; later.heap < heaps_.size())
      heaps_[later.heap].space.prefetch_taken(later.address);
  }
  // For walks over all slots, whose blocks lie at random places.
  [[gnu::always_inline]] void prefetch_block(std::size_t number) const {
    if (number >= slots_.size() || slots_[number].heap == 0) return;
    const Slot& slot = slots_[number];
    heaps_[slot.heap].space.prefetch(slot.place);
    __builtin_prefetch(&details_[slot.heap][static_cast<std::size_t>(slot.place)]);
  }
  std::uint32_t apply_free_requested(std::uint32_t slot);
  std::uint32_t apply_move(const wire::MoveRecord& record);
  std::uint32_t apply_region(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint32_t flags,
                             bool is_new, const Definitions& definitions);
  std::uint32_t apply_heap_gone(std::uint32_t heap);
  void apply_loss(const wire::LossRecord& record);
  void note_inexact(std::size_t heap, std::int64_t since_ns);  // 0: at the last event.
  void note_gap(std::int64_t since_ns = 0);
  // The heaps defined up to this block.
  void learn_heaps(const Definitions& definitions, std::uint32_t sequence);
  void note_listed(std::uint32_t heap);
  template <class After>
  void report_listed(std::uint64_t position, std::int64_t time_ns, const After& after) {
    if (listed_heaps_.empty()) return;
    for (const std::uint32_t heap : listed_heaps_) {
      heaps_[heap].is_listed = false;
      if constexpr (requires { after.listed(position, time_ns, heap); })
        after.listed(position, time_ns, heap);
      else
        after(position, time_ns, heap);
    }
    listed_heaps_.clear();
  }
  void apply_listing(const wire::ListingRecord& record, const Definitions& definitions);
  // False: everything in it is already known.
  bool begin_block_of_keyframe(const wire::BlockHeader& header);
  // The records that a keyframe counts.
  static constexpr bool is_state(wire::RecordKind kind) {
    using enum wire::RecordKind;
    return kind == region_live || kind == handle_live || kind == mapping_live || kind == reserve_live || kind == live ||
           kind == free_slot;
  }
  void begin_keyframe(const wire::ListingRecord& record);
  void end_in_keyframe(const wire::ListingRecord& record);
  std::uint32_t apply_slot(const wire::LiveRecord& record, const Definitions& definitions);
  void apply_free_slot(std::uint32_t slot);
  void list_regions(wire::BlockEncoder& encoder, std::vector<wire::Block>& blocks) const;
  PackedBlocks list_blocks() const;
  void list_blocks_of(std::uint32_t heap, std::span<const std::uint32_t> slots, PackedBlocks& out) const;
  LiveBlock block_in(std::size_t slot) const;
  void restore_blocks(const Keyframe& keyframe, const NetChanges& changes);
  void restore_some(std::uint32_t heap, const LiveColumns& columns, std::span<const std::uint16_t> rows,
                    AddressSpaceBuilder& builder);
  // For an allocated or a listed block.
  template <class Record>
  void fill_slot(std::uint32_t number, const Record& record, std::uint64_t event, HeapState& heap, BlockIndex place) {
    put_details(record.heap, place, details_of(record, event));
    const bool is_pending = (record.flags & wire::block_flag::is_pending) != 0;
    fill_slot(slots_[number], record.heap, record.requested, is_pending, place, heap.space.range_of(place).size(),
              heap);
  }
  template <class Record>
  static Details details_of(const Record& record, std::uint64_t event) {
    return {event, record.stack, record.stream, record.tag, record.flags & ~elsewhere_flags};
  }
  // An impossible size counts as 0, as in the space; an impossible request is unknown.
  static void fill_slot(Slot& slot, std::uint32_t heap, std::uint64_t requested, bool is_pending, BlockIndex place,
                        std::uint64_t size, HeapSums& sums) {
    const bool is_reported = requested <= AddressSpace::bytes_max;
    // In one assignment, so that the old contents need not be read.
    slot = {.requested = is_reported ? requested : wire::unknown_bytes,
            .place = place,
            .heap = heap & Slot::heap_max,
            .is_pending = is_pending ? 1U : 0U,
            .is_vacant = 0};
    sums.in_use_bytes += size;
    sums.requested_bytes += is_reported ? requested : 0;
    sums.pending_bytes += is_pending ? size : 0;
    ++sums.live_blocks;
    sums.pending_blocks += is_pending ? 1 : 0;
    sums.unknown_requests += is_reported ? 0 : 1;
  }
  void put_details(std::uint32_t heap, BlockIndex place, const Details& details) {
    std::vector<Details>& all = details_[heap];
    const auto at = static_cast<std::size_t>(place);
    if (at == all.size()) {
      all.push_back(details);
      return;
    }
    if (at > all.size()) all.resize(at + 1);
    all[at] = details;
  }
  void remove_block(Slot& slot);
  void clear_slots(std::uint32_t heap);
  void clear_figures(std::uint32_t heap);

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;      // Used as a stack.
  std::vector<HeapState> heaps_;               // By id.
  std::vector<std::vector<Details>> details_;  // By heap, then by place.
  HeapState none_;
  std::vector<std::uint32_t> listed_heaps_;  // Not reported to an observer yet.
  bool ignores_regions_ = false;
  bool is_listing_ = false;  // A new listing has begun and not ended.
  // Inside one of the source's keyframes that is being applied; until the next block of events.
  bool is_in_keyframe_ = false;
  bool is_keyframe_whole_ = false;   // So far.
  std::uint64_t keyframe_rows_ = 0;  // State rows.
  bool all_are_inexact_ = false;     // All known heaps are: another loss changes nothing.
  PhysicalState physical_;
  std::size_t known_heaps_ = 0;  // Defined so far. Events missing before a heap's definition don't concern it.
  std::size_t next_block_ = 0, next_record_ = 0;  // Where the next apply continues.
  std::uint32_t next_sequence_ = 0;
  std::uint64_t blocks_seen_ = 0;  // Allocated or listed so far: an upper bound for slots.
  std::uint64_t position_ = 0;
  std::int64_t time_ns_ = 0;
  StreamProblems problems_;
};

class StreamState::Slots {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = LiveBlock;
    using difference_type = std::ptrdiff_t;
    using pointer = const LiveBlock*;
    using reference = LiveBlock;
    Iterator(const StreamState* state, std::size_t slot) : state_(state), slot_(slot) {}
    LiveBlock operator*() const { return state_->block_in(slot_); }
    Iterator& operator++() {
      constexpr std::size_t ahead = 24;
      state_->prefetch_block(++slot_ + ahead);
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const StreamState* state_;
    std::size_t slot_;
  };

  explicit Slots(const StreamState& state) : state_(&state) {}
  std::size_t size() const { return state_->slots_.size(); }
  LiveBlock operator[](std::size_t slot) const { return state_->block_in(slot); }
  LiveBlock front() const { return state_->block_in(0); }
  Iterator begin() const { return {state_, 0}; }
  Iterator end() const { return {state_, size()}; }

 private:
  const StreamState* state_;
};

inline StreamState::Slots StreamState::slots() const {
  return Slots(*this);
}

}  // namespace hbmscope
