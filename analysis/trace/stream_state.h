// The heap at a moment: every live block of a stream, and for each heap its addresses and sums, after so many events.
//
// A state is changed by applying a block's records in order, and is plain data: to copy it is to keep the moment.
// Blocks live in slots; a free names the slot, so that a state can be carried on without knowing anything older.
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

// What a slot of the writer's table holds.
struct LiveBlock {
  std::uint64_t event = wire::before_the_stream;  // Its allocation id.
  std::uint64_t address = 0;
  std::uint64_t size = 0;                         // What it takes, rounding included.
  std::uint64_t requested = wire::unknown_bytes;  // What was asked.
  std::uint32_t slot = 0;
  std::uint32_t heap = 0;  // 0: the slot is empty.
  std::uint32_t stack = 0, stream = 0, tag = 0;
  std::uint32_t flags = 0;              // wire::block_flag
  BlockIndex place = BlockIndex::none;  // In its heap's AddressSpace.
  bool is_vacant = false;               // The slot waits to be taken again.

  bool is_live() const { return heap != 0; }
  bool is_pending() const { return (flags & wire::block_flag::is_pending) != 0; }
  bool has_address() const { return (flags & wire::block_flag::has_no_address) == 0; }
};

// Over the live blocks of a heap.
struct HeapSums {
  std::uint64_t in_use_bytes = 0;     // Of all live blocks, pending ones too.
  std::uint64_t requested_bytes = 0;  // Of those whose request is known.
  std::uint64_t pending_bytes = 0;    // In use, already freed by the program.
  std::uint64_t live_blocks = 0, pending_blocks = 0, unknown_requests = 0;
};

struct HeapState : HeapSums {
  AddressSpace space{RegionsAre::unknown};
  bool is_inexact = false;            // After a loss, until it was listed again.
  std::int64_t inexact_since_ns = 0;  // The time of that loss.
  bool is_listed = false;             // Something was listed of it since the last event.

  // Nothing where the source does not tell.
  std::optional<std::uint64_t> known_requested_bytes() const {
    return unknown_requests > 0 ? std::nullopt : std::optional(requested_bytes);
  }
};

// External fragmentation as XLA defines it: 1 - largest / total free. Nothing with nothing free, or where that is
// unknown.
std::optional<double> external_fragmentation(const HeapState& heap);

struct StreamProblems {
  std::uint64_t unknown_frees = 0;    // Of addresses where nothing lived.
  std::uint64_t bad_slots = 0;        // Frees of slots that hold nothing: a damaged stream.
  std::uint64_t undefined_heaps = 0;  // Records of heaps that were never defined.
  std::uint64_t losses = 0;           // Events that the source says are missing; 1 where it does not know how many.

  std::uint64_t total() const { return unknown_frees + bad_slots + undefined_heaps + losses; }
};

class StreamState {
 public:
  // The encoder's memory is used again and again; it must be empty, and is empty again after it.
  Keyframe make_keyframe(wire::BlockEncoder& encoder) const;
  // Equal to the state that made it in all that can be asked; or to that state carried on, over the blocks from
  // keyframe.next_block on, the first one from keyframe.next_record, up to but without the event `end`. They are plain:
  // of kinds that NetChanges takes in, none of it out of order.
  static StreamState from_keyframe(const Keyframe& keyframe, const Definitions& definitions,
                                   std::span<const wire::SharedBlock> plain_blocks = {}, std::uint64_t end = 0);

  // Applies what this block has and the state does not know yet, up to but without the event `end`. Blocks come in
  // order, `number` counting them from 0; one that lies before next_block() changes nothing. Definitions are not looked
  // at: they were taken in before. `after(position, time, heap id)` is called after each event that changed a heap, and
  // once for all that was listed of it between two events; `after.before_free(slot)` before a free,
  // `after.before_clear(heap id)` before a heap (0: all) loses what lives in it, as it is gone or listed anew, and
  // `after.listed(position, time, heap id)` for what was listed, where it has such things.
  // Defined in apply_block.h, which the few who call it include.
  template <class After>
  void apply(const wire::DecodedBlock& block, std::size_t number, const Definitions& definitions, std::uint64_t end,
             const After& after);

  // This block of a keyframe, or the keyframe that it is of, tells more than is known: something is missing before it.
  bool takes_keyframe(const wire::BlockHeader& header) const;

  // Events are missing up to here: slots may no longer be what the writer meant.
  void skip_lost(std::uint64_t position) {
    note_gap();
    position_ = std::max(position_, position);
  }
  // Blocks up to here can't be read again, the last one with this sequence: heaps that they define are not known
  // either.
  void skip_unreadable(const Definitions& definitions, std::uint32_t sequence, std::uint64_t position) {
    learn_heaps(definitions, sequence);
    skip_lost(position);
  }
  // Heaps that are defined and have not been touched hold nothing, which is known: none of it is absent.
  void make_heaps(const Definitions& definitions);

  std::uint64_t position() const { return position_; }  // Events applied.
  std::size_t next_block() const { return next_block_; }
  std::int64_t time_ns() const { return time_ns_; }  // Of the last one.
  // All slots, empty ones too, as LiveBlocks made when they are looked at.
  class Slots;
  Slots slots() const;
  std::size_t slot_count() const { return slots_.size(); }
  std::size_t region_count() const;  // Of all heaps.
  const HeapState& heap(std::uint32_t id) const { return id < heaps_.size() ? heaps_[id] : none_; }
  const PhysicalState& physical() const { return physical_; }
  // What is taken of a heap's memory: its live blocks, and the handles that it owns.
  std::uint64_t in_use_bytes(std::uint32_t id) const { return heap(id).in_use_bytes + physical_.heap(id).owned_bytes; }
  // Events of the heap, or of handles that it owns, were lost, and it was not listed again since: its figures are not
  // to be relied on.
  bool is_inexact(std::uint32_t id) const {
    const PhysicalBytes& physical = physical_.heap(id);
    return heap(id).is_inexact || (physical.is_inexact && physical.has_any());
  }
  // Where it is: the time of the first loss since it was exact.
  std::int64_t inexact_since_ns(std::uint32_t id) const { return heap(id).inexact_since_ns; }
  const StreamProblems& problems() const { return problems_; }
  // All that was out of order so far, in any heap: no event out of order leaves it as it was.
  std::uint64_t count_problems() const;

 private:
  // A quarter of a cache line, because a free touches one of tens of thousands at random. Address and size lie in the
  // heap's space.
  struct Slot {
    std::uint64_t requested = wire::unknown_bytes;
    BlockIndex place = BlockIndex::none;
    std::uint32_t heap : 30 = 0;  // 0: it holds nothing.
    std::uint32_t is_pending : 1 = 0;
    // It waits to be taken again. One that lost its block with the whole heap does not: the writer still holds it.
    std::uint32_t is_vacant : 1 = 0;

    static constexpr std::uint32_t heap_max = (1U << 30) - 1;  // More of them than memory has room for.
  };
  static_assert(sizeof(Slot) == 16);
  // What no free looks at, by place: a state that is built in the order of addresses writes it from end to end.
  struct Details {
    std::uint64_t event = wire::before_the_stream;
    std::uint32_t stack = 0, stream = 0, tag = 0;
    std::uint32_t flags = 0;  // wire::block_flag, but for elsewhere_flags.
  };
  static constexpr std::uint32_t elsewhere_flags = wire::block_flag::is_loose | wire::block_flag::is_pending;

  HeapState* find_heap(std::uint32_t id, const Definitions& definitions);
  std::uint32_t apply_alloc(const wire::AllocRecord& record, std::uint64_t event, const Definitions& definitions);
  std::uint32_t apply_live(const wire::LiveRecord& record, const Definitions& definitions);
  std::uint32_t apply_free(std::uint32_t slot);
  // Which blocks the next frees need is known: fetching them early takes a third off the time of a trace. Inlined by
  // force, as those of AddressSpace: a function that only prefetches has no effect to GCC 12, which drops the call.
  [[gnu::always_inline]] void prefetch(std::span<const wire::FreeRecord> frees, std::size_t at) const {
    constexpr std::size_t far = 12, near = 5, next = 2;
    if (at + far >= frees.size()) return;
    if (const std::uint32_t slot = frees[at + far].slot; slot < slots_.size()) __builtin_prefetch(&slots_[slot]);
    if (const std::uint32_t slot = frees[at + near].slot; slot < slots_.size() && slots_[slot].heap < heaps_.size())
      heaps_[slots_[slot].heap].space.prefetch(slots_[slot].place);
    if (const std::uint32_t slot = frees[at + next].slot; slot < slots_.size() && slots_[slot].heap < heaps_.size())
      heaps_[slots_[slot].heap].space.prefetch_neighbours(slots_[slot].place);
  }
  std::uint32_t apply_free_requested(std::uint32_t slot);
  std::uint32_t apply_move(const wire::MoveRecord& record);
  std::uint32_t apply_region(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint32_t flags,
                             bool is_new, const Definitions& definitions);
  std::uint32_t apply_heap_gone(std::uint32_t heap);
  void apply_loss(const wire::LossRecord& record);
  void note_inexact(std::size_t heap, std::int64_t since_ns);  // 0: at the last event.
  void note_gap(std::int64_t since_ns = 0);
  // Those that were defined up to this block.
  void learn_heaps(const Definitions& definitions, std::uint32_t sequence);
  void note_listed(std::uint32_t heap);
  template <class After>
  void tell_listed(std::uint64_t position, std::int64_t time_ns, const After& after) {
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
  // False: all that it tells is known.
  bool begin_block_of_keyframe(const wire::BlockHeader& header);
  // What a keyframe counts.
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
  // A block that is taken or listed.
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
  // A size that can't be counts as none, as in the space; a request that can't be is not told.
  static void fill_slot(Slot& slot, std::uint32_t heap, std::uint64_t requested, bool is_pending, BlockIndex place,
                        std::uint64_t size, HeapSums& sums) {
    const bool is_told = requested <= AddressSpace::bytes_max;
    // At once, so that nothing of it needs to be read before.
    slot = {.requested = is_told ? requested : wire::unknown_bytes,
            .place = place,
            .heap = heap & Slot::heap_max,
            .is_pending = is_pending ? 1U : 0U,
            .is_vacant = 0};
    sums.in_use_bytes += size;
    sums.requested_bytes += is_told ? requested : 0;
    sums.pending_bytes += is_pending ? size : 0;
    ++sums.live_blocks;
    sums.pending_blocks += is_pending ? 1 : 0;
    sums.unknown_requests += is_told ? 0 : 1;
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
  std::vector<std::uint32_t> free_slots_;      // The last one is taken first.
  std::vector<HeapState> heaps_;               // By id.
  std::vector<std::vector<Details>> details_;  // By heap, then by place.
  HeapState none_;
  std::vector<std::uint32_t> listed_heaps_;  // Of which nobody was told yet.
  bool is_listing_ = false;                  // A new listing has begun and not ended.
  // Inside of a keyframe of the source's that is taken in; until the next block of events.
  bool is_in_keyframe_ = false;
  bool is_keyframe_whole_ = false;   // So far.
  std::uint64_t keyframe_rows_ = 0;  // Of state.
  bool all_are_inexact_ = false;     // All known heaps: another loss changes nothing.
  PhysicalState physical_;
  std::size_t known_heaps_ = 0;  // Defined so far: what is missing before a heap's definition is none of it.
  std::size_t next_block_ = 0, next_record_ = 0;  // Where the next apply goes on.
  std::uint32_t next_sequence_ = 0;
  std::uint64_t blocks_seen_ = 0;  // Taken or listed so far: no stream needs more slots.
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
      ++slot_;
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
