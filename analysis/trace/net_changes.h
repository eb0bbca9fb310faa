// What a stretch of plain events leaves of the blocks that lived before it, and adds to them.
//
// To come to a moment from the last keyframe, every event between the two could be replayed, each with the free space
// around its block. Where nothing unusual happens, only the blocks that live at the end decide; to find those costs an
// entry of a table for each event, a fifth of replaying it.
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
  // Beginning with so many slots, of which these are vacant; the last one is taken first. At most so many events come.
  NetChanges(std::size_t slot_count, std::vector<std::uint32_t> free_slots, std::size_t events);

  // May all that a block has be taken in here? By kind of record; that none of it was out of order must be known.
  static bool is_plain(std::uint8_t kind);

  // The next block, from its record `begin` on, up to but without the event `end`. False where that lies in it. Only
  // the first one begins inside, and only the last one needs its times.
  bool add(const wire::DecodedBlock& block, std::size_t begin, std::uint64_t end);
  // No more comes; the rest may be asked then.
  void finish();

  std::size_t slot_count() const { return last_by_slot_.size(); }
  const std::vector<std::uint32_t>& free_slots() const { return free_slots_; }
  std::uint64_t allocations() const { return taken_.size(); }
  // When all is finished: of these, those that live in a heap.
  std::size_t added_blocks(std::uint32_t heap) const;
  // Of the last event, and of the record where the next one begins; nothing was added: zeros.
  std::uint64_t position() const { return position_; }
  std::int64_t time_ns() const { return time_ns_; }
  std::size_t next_record() const { return next_record_; }

  // What lives now, when all is finished: what lived before, without those that are gone, and merged into it what was
  // added. visit(heap, const LiveColumns&, std::span<const std::uint16_t> rows), some hundred of one heap at a time,
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
  // An allocation: its slot, and its event counted from that of the first block.
  struct Taken {
    std::uint32_t slot, event;
  };
  // One that lives; where in its heap, and which.
  struct Added {
    std::uint64_t address;
    std::uint32_t heap, taken;
  };
  // What follows upon each other in a heap: rows of a piece, behind them what was added, and which of all in which
  // order.
  struct Merge {
    LiveColumns columns;
    std::array<std::uint16_t, LiveColumns::rows_max> chosen;
    std::size_t count;      // Of them.
    std::size_t rows;       // Of the piece.
    std::size_t row, next;  // Up to where those of the piece, and those of added_, were seen.
  };
  // What is kept of the piece's first rows, as many as are of this heap, and what was added to it before the last of
  // them; all that was added where the heap has none of them. A part of it, where there is no room for all.
  void merge_rows(std::uint32_t heap, std::size_t rows, Merge& merge) const;
  void read_added(std::size_t begin, std::size_t end, LiveColumns& columns, std::size_t row) const;
  // What of a block is to come: its records, the first event's number, the frees and so on that lie before.
  struct Rest {
    std::size_t record = 0;
    std::uint64_t event = 0, room = 0;  // For so many events.
    std::size_t allocs = 0, frees = 0, requests = 0;
  };
  struct Passed {
    std::size_t records = 0;   // Up to where the next event is.
    std::uint32_t events = 0;  // Of the rest.
    std::size_t last = 0;      // Where the last of these is.
  };
  static Rest rest_of(const wire::DecodedBlock& block, std::size_t begin, std::uint64_t end);
  Passed add_usual(const wire::DecodedBlock& block, const Rest& rest);
  Passed add_any(const wire::DecodedBlock& block, const Rest& rest);
  std::uint32_t take_slot();
  void note_requested(std::uint32_t slot);

  // What last became of a slot, where it is no number of an allocation.
  static constexpr std::uint32_t untouched = 0xffffffff, now_pending = 0xfffffffe, given_back = 0xfffffffd;
  static constexpr std::uint32_t behind_all_heaps = 0xffffffff;
  std::vector<std::uint32_t> last_by_slot_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<wire::AllocRecord> records_;  // By number of the allocation, as the next.
  std::vector<Taken> taken_;
  std::vector<std::uint32_t> pending_;  // Allocations that the program has freed, but whose memory is not free yet.
  std::unique_ptr<Added[]> added_memory_;
  std::span<Added> added_;  // By heap, then by address; the last is behind all heaps.
  std::uint64_t first_event_ = 0, position_ = 0;
  std::int64_t time_ns_ = 0;
  std::size_t next_record_ = 0;
};

}  // namespace hbmscope
