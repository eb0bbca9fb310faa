#include "analysis/query/block_history.h"

#include <algorithm>

#include "analysis/query/range_watch.h"
#include "analysis/query/rebuilt_history.h"
#include "analysis/trace/pass.h"

namespace hbmscope {
namespace {

using wire::RecordKind;

class HistoryFinder {
 public:
  HistoryFinder(const Stream& stream, std::uint32_t heap, AddressRange range, std::uint64_t position)
      : has_times_(stream.has_times()), heap_(heap), range_(range), position_(position) {}

  void note(const RangeWatch& watch, const RangeEvent& event) {
    switch (event.what) {
      case RangeEvent::What::allocated: return open(event.block, event.event, time(event.time_ns));
      case RangeEvent::What::freed: return note_free(event.block, {event.event, event.time_ns}, event.by_stack);
      case RangeEvent::What::region_grew:
        return note_region(event.block.address, event.block.size, {event.event, event.time_ns}, event.by_stack);
      case RangeEvent::What::heap_gone: return end_all(HeldEnd::heap_gone, {event.event, event.time_ns});
      case RangeEvent::What::listed: break;
    }
    std::vector<LiveBlock> listed;
    for (const auto& [slot, block] : watch.watched())
      if (range_of(block).contains(range_.begin)) listed.push_back(block);
    note_listed(std::move(listed), {event.event, event.time_ns});
  }

  // For a rebuilt heap.
  void note(const StreamState& state, const HeapChange& change, const wire::DecodedBlock& decoded) {
    if (change.heap != heap_) return;
    const When when{change.place.event, change.time_ns};
    if (change.place.kind == RecordKind{}) return note_listed(live_at_begin(state), {change.position, change.time_ns});
    switch (change.place.kind) {
      case RecordKind::alloc: {
        const LiveBlock block = allocated_block(change);
        return open(block, block.event, time(change.time_ns));
      }
      case RecordKind::free:
        if (change.block) {
          const std::uint32_t stack = decoded.rows<wire::FreeRecord>()[change.place.row].stack;
          note_free(*change.block, when, stack == wire::derived_free ? 0 : stack);
        }
        return;
      case RecordKind::move:
        end(*change.block, HeldEnd::moved, when, 0);
        return open(*change.block, change.place.event, time(change.time_ns));
      case RecordKind::region_grow: {
        const auto& record = decoded.rows<wire::RegionGrowRecord>()[change.place.row];
        return note_region(record.address, record.size, when, record.stack);
      }
      case RecordKind::heap_gone: return end_all(HeldEnd::heap_gone, when);
      default: return;
    }
  }

  AddressHistory take() {
    for (std::size_t i = 0; i < history_.rows.size(); ++i) {
      const HeldRow& row = history_.rows[i];
      const bool had_begun = row.event == HeldRow::no_event || row.event < position_;
      if (had_begun) history_.begun = i + 1;
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

  struct When {
    std::uint64_t event = 0;  // For listings: the number of events before.
    std::int64_t time_ns = 0;
  };
  std::vector<LiveBlock> live_at_begin(const StreamState& state) const {
    std::vector<LiveBlock> live;
    for (const LiveBlock& block : state.slots())
      if (block.heap == heap_ && range_of(block).contains(range_.begin)) live.push_back(block);
    return live;
  }

  void note_free(const LiveBlock& block, const When& when, std::uint32_t stack) {
    if (!range_of(block).overlaps(range_)) return;
    if (when.event < position_)
      history_.since = {FreeSince::Why::freed, when.event, time(when.time_ns), block.size, stack, block.stack};
    end(block, HeldEnd::freed, when, stack);
  }

  void note_region(std::uint64_t address, std::uint64_t size, const When& when, std::uint32_t stack) {
    if (when.event < position_ && range_of(address, size).overlaps(range_))
      history_.since = {FreeSince::Why::region_grew, when.event, time(when.time_ns), size, stack, 0};
  }

  // Blocks from before the stream, or listed again. Known blocks keep their rows.
  void note_listed(std::vector<LiveBlock> listed, const When& when) {
    const auto is_same = [&](const Open& open, const LiveBlock& block) {
      const HeldRow& row = history_.rows[open.row];
      return open.event == block.event && row.address == block.address && row.size == block.size;
    };
    std::vector<Open> kept;
    for (const Open& one : open_) {
      const auto found =
          std::find_if(listed.begin(), listed.end(), [&](const LiveBlock& block) { return is_same(one, block); });
      if (found == listed.end()) {
        close(one, HeldEnd::not_listed, when, 0);
      } else {
        kept.push_back({one.event, found->slot, one.row});
        listed.erase(found);
      }
    }
    open_ = std::move(kept);
    for (const LiveBlock& block : listed)
      open(block, when.event == 0 ? HeldRow::no_event : when.event,
           when.event == 0 ? std::nullopt : time(when.time_ns));
  }

  struct Open {
    std::uint64_t event = 0;  // The allocation id.
    std::uint32_t slot = 0;   // For blocks from before the stream, which have no allocation id.
    std::size_t row = 0;

    bool is(const LiveBlock& block) const {
      return event == block.event && (event != wire::before_the_stream || slot == block.slot);
    }
  };

  void close(const Open& one, HeldEnd how, const When& when, std::uint32_t stack) {
    HeldRow& row = history_.rows[one.row];
    row.how = how;
    row.end_event = when.event;
    row.end_ns = time(when.time_ns);
    row.end_stack = stack;
    if (when.event < position_ && how != HeldEnd::freed)
      history_.since = {FreeSince::Why::other, when.event, time(when.time_ns), row.size, 0, row.stack};
  }
  void end(const LiveBlock& block, HeldEnd how, const When& when, std::uint32_t stack) {
    std::erase_if(open_, [&](const Open& one) {
      if (!one.is(block)) return false;
      close(one, how, when, stack);
      return true;
    });
  }
  void end_all(HeldEnd how, const When& when) {
    for (const Open& one : open_) close(one, how, when, 0);
    open_.clear();
  }

  const bool has_times_;
  const std::uint32_t heap_;
  const AddressRange range_;
  const std::uint64_t position_;
  AddressHistory history_;
  std::vector<Open> open_;  // The blocks that hold the address now: one, if the data is clean.
};

}  // namespace

std::pair<std::size_t, std::size_t> AddressHistory::rows_around(std::size_t most) const {
  if (most == 0 || most >= rows.size()) return {0, rows.size()};
  const std::size_t before = std::min(begun, most / 2 + 1), first = std::min(begun - before, rows.size() - most);
  return {first, first + most};
}

std::optional<AddressHistory> compute_address_history(const Stream& stream, std::uint32_t heap, AddressRange range,
                                                      std::uint64_t position, PassControl* control) {
  if (control != nullptr) control->total_events += stream.end_position();
  HistoryFinder watching(stream, heap, range, position);
  const std::optional<bool> is_watched =
      watch_range(stream, heap, range, control,
                  [&](const RangeWatch& watch, const RangeEvent& event) { watching.note(watch, event); });
  if (!is_watched) return std::nullopt;
  if (*is_watched) return watching.take();
  if (control != nullptr) control->total_events += control->done_events;
  return rebuild_address_history(stream, heap, range, position, control);
}

std::optional<AddressHistory> rebuild_address_history(const Stream& stream, std::uint32_t heap, AddressRange range,
                                                      std::uint64_t position, PassControl* control) {
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
  // Check blocks first: of blocks that overlap or lie outside of all regions, the chunks of regions contain one or
  // none.
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
