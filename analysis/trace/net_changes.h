// What a stretch of plain events leaves of the blocks that lived before it, and adds to them.
//
// To come to a moment from the last keyframe, every event between the two could be replayed, each with the free space
// around its block. Where nothing unusual happens, only the blocks that live at the end decide; to find those costs an
// entry of a table for each event, a fifth of replaying it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/trace/packed_blocks.h"
#include "collector/wire/block_decoder.h"

namespace hbmscope {

class NetChanges {
 public:
  // Beginning with so many slots, of which these are vacant; the last one is taken first. At most so many events come.
  NetChanges(std::size_t slot_count, std::vector<std::uint32_t> free_slots, std::size_t events)
      : entries_by_slot_(slot_count, untouched), free_slots_(std::move(free_slots)) {
    entries_.reserve(events);
  }

  // May all that a block has be taken in here? By kind of record; that none of it was out of order must be known.
  static bool is_plain(std::uint8_t kind);

  // The next block, up to but without the event `end`. False where that lies in it.
  bool add(const wire::DecodedBlock& block, std::uint64_t end);

  std::size_t slot_count() const { return entries_by_slot_.size(); }
  const std::vector<std::uint32_t>& free_slots() const { return free_slots_; }
  std::uint64_t allocations() const { return allocations_; }
  std::size_t touched_slots() const { return entries_.size(); }
  // Of the last event, and of the record where the next one begins; nothing was added: zeros.
  std::uint64_t position() const { return position_; }
  std::int64_t time_ns() const { return time_ns_; }
  std::size_t next_record() const { return next_record_; }

  // What lives now: what lived before, without those that are gone, and merged into it what was added.
  // visit(std::span<const wire::LiveRecord* const>), some hundred at a time, sorted by heap, not loose, address.
  template <class Visit>
  void for_each_live(const PackedBlocks& before, const Visit& visit) {
    Merge merge;
    sort_added(merge.added);
    before.for_each_piece([&](std::span<wire::LiveRecord> piece) {
      merge_piece(piece, merge);
      visit(std::span<const wire::LiveRecord* const>(merge.live));
    });
    merge.live.clear();
    add_heaps_before(behind_all_heaps, merge);
    visit(std::span<const wire::LiveRecord* const>(merge.live));
  }

 private:
  struct Added {
    std::uint64_t address;
    std::uint32_t heap, entry;
  };
  struct Merge {
    std::vector<Added> added;             // The last one is behind all heaps.
    std::size_t next = 0;                 // Of them.
    std::vector<wire::LiveRecord*> kept;  // Of the piece at hand.
    std::vector<const wire::LiveRecord*> live;
  };
  void sort_added(std::vector<Added>& added) const;  // By heap, then by address.
  void find_kept(std::span<wire::LiveRecord> piece, std::vector<wire::LiveRecord*>& kept) const;
  // What is kept of a piece, and what was added before the last of that.
  void merge_piece(std::span<wire::LiveRecord> piece, Merge& merge) const;
  void add_heaps_before(std::uint32_t heap, Merge& merge) const;
  wire::LiveRecord& entry_of(std::uint32_t slot);
  void take(const wire::AllocRecord& record, std::uint64_t event);
  void give_back(std::uint32_t slot);
  void note_requested(std::uint32_t slot);

  static constexpr std::uint32_t untouched = 0xffffffff, now_pending = 0xfffffffe;  // Above all entries.
  static constexpr std::uint32_t behind_all_heaps = 0xffffffff;
  std::vector<std::uint32_t> entries_by_slot_;
  std::vector<wire::LiveRecord> entries_;  // heap 0: what was in the slot is gone.
  std::vector<std::uint32_t> free_slots_;
  std::uint64_t allocations_ = 0, position_ = 0;
  std::int64_t time_ns_ = 0;
  std::size_t next_record_ = 0;
};

}  // namespace hbmscope
