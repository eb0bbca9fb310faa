// The net effect of a run of plain events on the live blocks: which earlier ones remain, and which are added.
//
// To reach a position from the last keyframe, every event between them could be replayed with the free space around its
// block. If nothing unusual happens, only the blocks that are live at the end matter. Finding them takes one table
// entry per event, a fifth of the cost of a replay.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analysis/trace/packed_blocks.h"
#include "collector/wire/block_decoder.h"

namespace hbmscope {

class NetChanges {
 public:
  // Starts with `slot_count` slots, of which `free_slots` are vacant (used as a stack). At most `events` events will
  // come.
  NetChanges(std::size_t slot_count, std::vector<std::uint32_t> free_slots, std::size_t events);

  // May a block that contains this kind of record be added here? The block must also be known to have no problems.
  static bool is_plain(std::uint8_t kind);

  // Adds the next block from its record `begin` up to, but not including, the event `end`. Returns false if `end` lies
  // in the block. Only the first block may start in the middle, and only the last one needs its times.
  bool add(const wire::DecodedBlock& block, std::size_t begin, std::uint64_t end);
  // No more blocks will come; the rest of the interface is usable from then on.
  void finish();

  std::size_t slot_count() const { return last_by_slot_.size(); }
  const std::vector<std::uint32_t>& free_slots() const { return free_slots_; }
  std::uint64_t allocations() const { return taken_.size(); }
  // After finish(): the added blocks that are live in a heap.
  std::size_t added_blocks(std::uint32_t heap) const;
  // The last event, and the record where the next one begins; zeros if nothing was added.
  std::uint64_t position() const { return position_; }
  std::int64_t time_ns() const { return time_ns_; }
  std::size_t next_record() const { return next_record_; }

  // After finish(), visits the blocks that are live now: those of `before` that remain, merged with the added ones.
  // visit(heap, const LiveColumns&, std::span<const std::uint16_t> rows) gets some hundred of one heap at a time,
  // sorted by heap, not loose, address.
  template <class Visit>
  void for_each_live(const PackedBlocks& before, const Visit& visit) const {
    const auto merge = std::make_unique_for_overwrite<Merge>();
    merge->rows = merge->row = merge->next = 0;
    const auto visit_merged = [&](std::uint32_t heap, std::size_t rows) {
      merge_rows(heap, rows, *merge);
      visit(heap, std::as_const(merge->columns), std::span<const std::uint16_t>(merge->chosen.data(), merge->count));
    };
    const auto visit_heaps_before = [&](std::uint32_t heap) {
      while (added_[merge->next].heap < heap) visit_merged(added_[merge->next].heap, 0);
    };
    before.for_each_piece(merge->columns, [&](std::uint32_t heap, std::size_t rows) {
      merge->rows = rows;
      merge->row = 0;
      visit_heaps_before(heap);
      while (merge->row < rows) visit_merged(heap, rows);
    });
    visit_heaps_before(behind_all_heaps);
  }

 private:
  // An allocation: its slot, and its event relative to the first event of the first block.
  struct Taken {
    std::uint32_t slot, event;
  };
  // A live allocation: its place in its heap, and which one it is.
  struct Added {
    std::uint64_t address;
    std::uint32_t heap, taken;
  };
  // A run of one heap's blocks in merge order: the rows of a piece, followed by the added blocks; `chosen` lists the
  // row numbers in order.
  struct Merge {
    LiveColumns columns;
    std::array<std::uint16_t, LiveColumns::rows_max> chosen;
    std::size_t count;      // The number of `chosen` rows.
    std::size_t rows;       // Rows in the piece.
    std::size_t row, next;  // How far the piece and added_ have been merged.
  };
  // Merges the remaining blocks among the piece's next rows with the blocks added to this heap before the last of them.
  // Without rows, takes all blocks added to the heap. Does only a part if the columns have no room for all.
  void merge_rows(std::uint32_t heap, std::size_t rows, Merge& merge) const;
  void read_added(std::size_t begin, std::size_t end, LiveColumns& columns, std::size_t row) const;
  // The rest of a block: where its records begin, its first event's number, and how many frees and so on precede.
  struct Rest {
    std::size_t record = 0;
    std::uint64_t event = 0, room = 0;  // For how many events.
    std::size_t allocs = 0, frees = 0, requests = 0;
  };
  struct Passed {
    std::size_t records = 0;   // Up to the next event.
    std::uint32_t events = 0;  // Among them.
    std::size_t last = 0;      // Where the last event is.
  };
  static Rest rest_of(const wire::DecodedBlock& block, std::size_t begin, std::uint64_t end);
  Passed add_usual(const wire::DecodedBlock& block, const Rest& rest);
  Passed add_any(const wire::DecodedBlock& block, const Rest& rest);
  void note_requested(std::uint32_t slot);

  // The last state of a slot, unless it is the number of an allocation.
  static constexpr std::uint32_t untouched = 0xffffffff, now_pending = 0xfffffffe, given_back = 0xfffffffd;
  static constexpr std::uint32_t behind_all_heaps = 0xffffffff;
  std::vector<std::uint32_t> last_by_slot_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<wire::AllocRecord> records_;  // By allocation number, like the next one.
  std::vector<Taken> taken_;
  std::vector<std::uint32_t> pending_;  // Allocations that the program has freed, but whose memory is still in use.
  std::unique_ptr<Added[]> added_memory_;
  std::span<Added> added_;  // By heap, then by address; the last entry is a sentinel behind all heaps.
  std::uint64_t first_event_ = 0, position_ = 0;
  std::int64_t time_ns_ = 0;
  std::size_t next_record_ = 0;
};

}  // namespace hbmscope
