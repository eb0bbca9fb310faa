#include "analysis/query/block_history.h"

#include <algorithm>

namespace hbmscope {
namespace {

using wire::RecordKind;

class HistoryFinder {
 public:
  HistoryFinder(const Stream& stream, std::uint32_t heap, AddressRange range, std::uint64_t position)
      : has_times_(stream.has_times()), heap_(heap), range_(range), position_(position) {}

  void note(const StreamState& state, const HeapChange& change, const wire::DecodedBlock& decoded) {
    if (change.heap != heap_) return;
    if (change.place.kind == RecordKind{}) return note_listed(state, change);
    switch (change.what) {
      case HeapChange::What::allocated: note_alloc(change); return;
      case HeapChange::What::freed: note_free(change, decoded); return;
      case HeapChange::What::other: break;
    }
    switch (change.place.kind) {
      case RecordKind::move: return note_move(change);
      case RecordKind::region_grow:
        return note_region(change, decoded.rows<wire::RegionGrowRecord>()[change.place.row]);
      case RecordKind::heap_gone: return end_all(change, HeldEnd::heap_gone, change.place.event);
      default: return;
    }
  }

  AddressHistory take() {
    for (std::size_t i = 0; i < history_.rows.size(); ++i) {
      const HeldRow& row = history_.rows[i];
      const bool had_begun = row.event == HeldRow::no_event || row.event < position_;
      if (had_begun && (row.how == HeldEnd::lives || row.end_event >= position_)) history_.now = i;
    }
    return std::move(history_);
  }

 private:
  static AddressRange range_of(std::uint64_t address, std::uint64_t size) { return {address, address + size}; }
  static AddressRange range_of(const LiveBlock& block) {
    return block.has_address() ? range_of(block.address, block.size) : AddressRange{};
  }
  std::optional<std::int64_t> time(std::int64_t ns) const { return has_times_ ? std::optional(ns) : std::nullopt; }

  void open(const LiveBlock& block, std::uint64_t event, std::optional<std::int64_t> begin_ns) {
    if (!range_of(block).contains(range_.begin)) return;
    HeldRow row;
    row.event = event;
    row.begin_ns = begin_ns;
    row.address = block.address;
    row.size = block.size;
    row.requested = block.requested;
    row.stack = block.stack;
    row.tag = block.tag;
    row.device_stream = block.stream;
    open_.push_back({block.event, block.slot, history_.rows.size()});
    history_.rows.push_back(row);
  }

  void note_alloc(const HeapChange& change) {
    LiveBlock block;
    block.event = change.place.event;
    block.address = change.allocated.address;
    block.size = change.allocated.size;
    block.requested = change.allocated.requested;
    block.stack = change.allocated.stack;
    block.stream = change.allocated.stream;
    block.tag = change.allocated.tag;
    open(block, block.event, time(change.time_ns));
  }

  void note_free(const HeapChange& change, const wire::DecodedBlock& decoded) {
    const LiveBlock& block = *change.block;
    if (!range_of(block).overlaps(range_)) return;
    std::uint32_t stack = decoded.rows<wire::FreeRecord>()[change.place.row].stack;
    if (stack == wire::derived_free) stack = 0;
    if (change.place.event < position_)
      history_.since = {
          FreeSince::Why::freed, change.place.event, time(change.time_ns), block.size, stack, block.stack};
    end(block, change, HeldEnd::freed, change.place.event, stack);
  }

  void note_region(const HeapChange& change, const wire::RegionGrowRecord& record) {
    if (change.place.event < position_ && range_of(record.address, record.size).overlaps(range_))
      history_.since = {
          FreeSince::Why::region_grew, change.place.event, time(change.time_ns), record.size, record.stack, 0};
  }

  void note_move(const HeapChange& change) {
    end(*change.block, change, HeldEnd::moved, change.place.event, 0);
    open(*change.block, change.place.event, time(change.time_ns));
  }

  // What lived before the stream, or was listed anew: those that were known stay the same rows.
  void note_listed(const StreamState& state, const HeapChange& change) {
    std::vector<LiveBlock> listed;
    for (const LiveBlock& block : state.slots())
      if (block.heap == heap_ && range_of(block).contains(range_.begin)) listed.push_back(block);
    const auto is_same = [&](const Open& open, const LiveBlock& block) {
      const HeldRow& row = history_.rows[open.row];
      return open.event == block.event && row.address == block.address && row.size == block.size;
    };
    std::vector<Open> kept;
    for (const Open& one : open_) {
      const auto found =
          std::find_if(listed.begin(), listed.end(), [&](const LiveBlock& block) { return is_same(one, block); });
      if (found == listed.end()) {
        close(one, change, HeldEnd::not_listed, change.position, 0);
      } else {
        kept.push_back({one.event, found->slot, one.row});
        listed.erase(found);
      }
    }
    open_ = std::move(kept);
    for (const LiveBlock& block : listed)
      open(block, change.position == 0 ? HeldRow::no_event : change.position,
           change.position == 0 ? std::nullopt : time(change.time_ns));
  }

  struct Open {
    std::uint64_t event = 0;  // The allocation's.
    std::uint32_t slot = 0;   // Of one from before the stream, which has no number of its own.
    std::size_t row = 0;

    bool is(const LiveBlock& block) const {
      return event == block.event && (event != wire::before_the_stream || slot == block.slot);
    }
  };

  void close(const Open& one, const HeapChange& change, HeldEnd how, std::uint64_t event, std::uint32_t stack) {
    HeldRow& row = history_.rows[one.row];
    row.how = how;
    row.end_event = event;
    row.end_ns = time(change.time_ns);
    row.end_stack = stack;
    if (event < position_ && how != HeldEnd::freed)
      history_.since = {FreeSince::Why::other, event, time(change.time_ns), row.size, 0, row.stack};
  }
  void end(const LiveBlock& block, const HeapChange& change, HeldEnd how, std::uint64_t event, std::uint32_t stack) {
    std::erase_if(open_, [&](const Open& one) {
      if (!one.is(block)) return false;
      close(one, change, how, event, stack);
      return true;
    });
  }
  void end_all(const HeapChange& change, HeldEnd how, std::uint64_t event) {
    for (const Open& one : open_) close(one, change, how, event, 0);
    open_.clear();
  }

  const bool has_times_;
  const std::uint32_t heap_;
  const AddressRange range_;
  const std::uint64_t position_;
  AddressHistory history_;
  std::vector<Open> open_;  // Those that hold the address now: one, where the data is clean.
};

}  // namespace

std::optional<AddressHistory> compute_address_history(const Stream& stream, std::uint32_t heap, AddressRange range,
                                                      std::uint64_t position, PassControl* control) {
  if (control != nullptr) control->total_events += stream.end_position();
  HistoryFinder finder(stream, heap, range, position);
  const bool is_whole = pass_over_heaps(
      stream, stream.end_position(), control,
      [&](const StreamState& state, const HeapChange& change, const wire::DecodedBlock& block) {
        finder.note(state, change, block);
      },
      [](const wire::DecodedBlock&, const RecordPlace&) {});
  if (!is_whole) return std::nullopt;
  return finder.take();
}

PlaceAt find_place(const StreamState& state, std::uint32_t heap, std::uint64_t address) {
  const AddressSpace& space = state.heap(heap).space;
  PlaceAt place;
  // Blocks first: of two that overlap, or that lie outside of all regions, a region's chunks know one or none.
  for (const LiveBlock& block : state.slots()) {
    if (block.heap != heap || !block.has_address() || address < block.address || address - block.address >= block.size)
      continue;
    place = {PlaceAt::What::block, {block.address, block.address + block.size}, block.slot};
    if (!space.is_loose(block.place)) return place;
  }
  if (place.slot) return place;
  const auto chunk = space.find(address);
  if (chunk && chunk->state == ChunkState::free) return {PlaceAt::What::free, chunk->range, std::nullopt};
  if (!space.knows_regions()) place.what = PlaceAt::What::not_identified;
  return place;
}

}  // namespace hbmscope
