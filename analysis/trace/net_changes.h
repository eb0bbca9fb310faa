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

  // What lives now: what lived before, without those that are gone, and merged into it what was added. `before` calls
  // with one piece of the former after the other (std::span<const wire::LiveRecord>), sorted by heap, not loose,
  // address. Each is visited as a wire::LiveRecord; expect(slot) comes some blocks earlier, for most of them.
  template <class Before, class Visit, class Expect>
  void for_each_live(const Before& before, const Visit& visit, const Expect& expect) {
    constexpr std::size_t ahead = 16;
    const std::vector<Added> added = sort_added();
    std::size_t next = 0;
    const auto visit_next = [&] {
      if (next + 2 * ahead < added.size()) {  // Most lie in two cache lines.
        const wire::LiveRecord& later = entries_[added[next + 2 * ahead].entry];
        __builtin_prefetch(&later.address);
        __builtin_prefetch(&later.flags);
      }
      if (next + ahead < added.size()) expect(entries_[added[next + ahead].entry].slot);
      visit(entries_[added[next++].entry]);
    };
    std::vector<std::uint32_t> kept;  // Rows of a piece. Whether one is cannot be foreseen: no branch on it.
    before([&](std::span<const wire::LiveRecord> piece) {
      kept.resize(piece.size());
      std::size_t count = 0;
      for (std::size_t at = 0; at < piece.size(); ++at) {
        if (at + ahead < piece.size()) __builtin_prefetch(&entries_by_slot_[piece[at + ahead].slot]);
        kept[count] = static_cast<std::uint32_t>(at);
        count += entries_by_slot_[piece[at].slot] >= now_pending ? 1 : 0;
      }
      for (std::size_t i = 0; i < count; ++i) {
        if (i + ahead < count) expect(piece[kept[i + ahead]].slot);
        const wire::LiveRecord& block = piece[kept[i]];
        while (next < added.size() && is_before(added[next], block)) visit_next();
        if (entries_by_slot_[block.slot] == untouched) {
          visit(block);
        } else {
          wire::LiveRecord pending = block;
          pending.flags |= wire::block_flag::is_pending;
          visit(pending);
        }
      }
    });
    while (next < added.size()) visit_next();
  }

 private:
  struct Added {
    std::uint64_t address;
    std::uint32_t heap, entry;
  };
  static bool is_before(const Added& added, const wire::LiveRecord& block) {
    if (added.heap != block.heap) return added.heap < block.heap;
    return (block.flags & wire::block_flag::is_loose) != 0 || added.address < block.address;
  }
  std::vector<Added> sort_added() const;  // By heap, then by address.
  wire::LiveRecord& entry_of(std::uint32_t slot);
  void take(const wire::AllocRecord& record, std::uint64_t event);
  void give_back(std::uint32_t slot);
  void note_requested(std::uint32_t slot);

  static constexpr std::uint32_t untouched = 0xffffffff, now_pending = 0xfffffffe;  // Above all entries.
  std::vector<std::uint32_t> entries_by_slot_;
  std::vector<wire::LiveRecord> entries_;  // heap 0: what was in the slot is gone.
  std::vector<std::uint32_t> free_slots_;
  std::uint64_t allocations_ = 0, position_ = 0;
  std::int64_t time_ns_ = 0;
  std::size_t next_record_ = 0;
};

}  // namespace hbmscope
