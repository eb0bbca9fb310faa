// What a stream has written so far, kept with its writer so that a keyframe can repeat all of it for a reader that has
// not seen the past: all definitions, every live block, regions, handles of physical memory and their mappings. Costs
// some nanoseconds per event and 56 bytes per slot.
//
// It takes records at face value: if they contradict each other (a region inside another one), the last one counts.
// Records that readers refuse are left out (ranges and handles of no bytes, of no heap, or beyond the last address).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/wire/block.h"
#include "collector/wire/live_table.h"
#include "collector/wire/records.h"

namespace hbmscope::wire {

class BlockEncoder;

class WrittenState {
 public:
  // Definitions, in the order of their ids. Texts must keep their addresses.
  void note_text(const std::string& text) { texts_.push_back(&text); }
  // All other records. An event comes with its number, other records with the number of the next event. Blocks are
  // noted by the functions below.
  template <class Record>
  void note(const Record& /*record*/, std::uint64_t /*event*/) {}
  void note(const FrameRecord& frame, std::uint64_t event);
  void note(const StackRecord& stack, std::uint64_t) { stacks_.push_back(stack); }
  void note(const ModuleRecord& module, std::uint64_t) { modules_.push_back(module); }
  void note(const CodeRecord& code, std::uint64_t) { codes_.push_back(code); }
  void note(const HeapRecord& heap, std::uint64_t) {
    heaps_.push_back(heap);
    missing_.push_back(0);
  }
  void note(const JobRecord& fact, std::uint64_t) { facts_.push_back(fact); }
  void note_clock(const ClockRecord& clock, std::int64_t time_ns) {
    clock_ = clock;
    clock_time_ns_ = time_ns;
  }
  void note(const RegionGrowRecord& region, std::uint64_t event);
  void note(const RegionLiveRecord& region, std::uint64_t event);
  void note(const RegionShrinkRecord& region, std::uint64_t event);
  void note(const ListingRecord& listing, std::uint64_t event);
  void note(const LossRecord& loss, std::uint64_t event);
  void note(const HeapGoneRecord& gone, std::uint64_t event);
  void note(const PhysicalCreateRecord& handle, std::uint64_t event);
  void note(const PhysicalImportRecord& handle, std::uint64_t event);
  void note(const PhysicalExportRecord& handle, std::uint64_t event);
  void note(const PhysicalReleaseRecord& handle, std::uint64_t event);
  void note(const MapRecord& mapping, std::uint64_t event);
  void note(const UnmapRecord& range, std::uint64_t event);
  void note(const ReserveRecord& range, std::uint64_t event);
  void note(const UnreserveRecord& range, std::uint64_t event);

  // Blocks, by the slots that the writer assigned.
  void note_alloc(std::uint32_t slot, const AllocRecord& block, std::uint64_t event) {
    note_live({.address = block.address,
               .size = block.size,
               .requested = block.requested,
               .event = event,
               .heap = block.heap,
               .slot = slot,
               .stack = block.stack,
               .stream = block.stream,
               .tag = block.tag,
               .flags = block.flags});
  }
  void note_live(const LiveRecord& block) {
    if (block.slot >= blocks_.size()) blocks_.resize(block.slot + std::size_t{1});
    blocks_[block.slot] = block;
  }
  void note_pending(std::uint32_t slot) { blocks_[slot].flags |= block_flag::is_pending; }
  void note_move(std::uint32_t slot, std::uint64_t to) { blocks_[slot].address = to; }

  // The approximate size of a keyframe.
  std::uint64_t keyframe_bytes(const LiveTable& table) const {
    return 16 * (std::uint64_t{table.slot_count()} + handles_.size() + mappings_.size() + reservations_.size() +
                 regions_.size() + stacks_.size() + frames_.size() + codes_.size()) +
           48 * texts_.size();
  }
  // The keyframe after the events before `first_event`; `sequence` is that of the next block of events.
  std::vector<SharedBlock> make_keyframe(std::uint32_t stream, std::uint64_t first_event, std::uint32_t sequence,
                                         std::int64_t time_ns, const LiveTable& table) const;

 private:
  struct Handle {
    PhysicalCreateRecord created;
    std::uint64_t event = 0;
    std::uint32_t references = 1, mappings = 0, flags = 0;
  };
  struct Range {  // A range of addresses: a region, a mapping or a reservation.
    std::uint64_t size = 0;
    std::uint32_t flags = 0;                   // region_flag
    std::uint64_t handle = before_the_stream;  // Its event number.
    std::uint64_t offset = 0;
  };
  using Ranges = std::map<std::pair<std::uint32_t, std::uint64_t>, Range>;  // By heap and address.

  bool is_possible(std::uint32_t heap, std::uint64_t address, std::uint64_t size) const;
  template <class Record>
  void add_handle(const Record& record, std::uint64_t event, std::uint32_t flags);
  void release(std::uint64_t event);
  void count_mapping(std::uint64_t handle, int more);
  // Removes the part of `ranges` inside the range; for mappings, also from their handles.
  void cut(Ranges& ranges, std::uint32_t heap, std::uint64_t address, std::uint64_t size);

  std::vector<const std::string*> texts_;  // By id - 1, like the next ones.
  std::vector<FrameRecord> frames_;
  std::vector<StackRecord> stacks_;
  std::vector<ModuleRecord> modules_;
  std::vector<HeapRecord> heaps_;
  std::vector<std::uint8_t> missing_;  // By heap: listing_end.
  std::vector<CodeRecord> codes_;
  std::vector<JobRecord> facts_;
  ClockRecord clock_;
  std::int64_t clock_time_ns_ = 0;
  std::vector<LiveRecord> blocks_;  // By slot; the writer's table knows which of them are live.
  Ranges regions_, mappings_, reservations_;
  std::unordered_map<std::uint64_t, Handle> handles_;           // By event.
  std::unordered_map<std::uint64_t, std::uint64_t> by_number_;  // Handles with references: their events.
};

}  // namespace hbmscope::wire
