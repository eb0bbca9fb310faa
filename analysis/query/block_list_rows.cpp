#include "analysis/query/block_list_rows.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analysis/query/event_times.h"
#include "analysis/trace/pass.h"

namespace hbmscope {
namespace {

constexpr std::uint32_t no_row = 0xffffffff;

bool find_allocation_times(const Stream& stream, const StreamState& state, std::span<LiveRow> rows,
                           PassControl* control) {
  WantedEvents<LiveRow*> wanted;
  wanted.reserve(rows.size());
  for (LiveRow& row : rows)
    if (const std::uint64_t event = state.slots()[row.slot].event; event != wire::before_the_stream)
      wanted.emplace_back(event, &row);
  return find_event_times(stream, wanted, control,
                          [](LiveRow* row, std::int64_t time_ns) { row->allocated_ns = time_ns; });
}

// Follows the blocks of one stream after the given time.
class EndFinder {
 public:
  EndFinder(const StreamState& state, std::span<LiveRow> rows) : rows_(rows), row_of_slot_(state.slot_count(), no_row) {
    blocks_.reserve(rows.size());
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      row_of_slot_[rows[i].slot] = i;
      blocks_.push_back(state.slots()[rows[i].slot]);
    }
    left_ = rows.size();
  }

  bool run(const Stream& stream, StreamState state, PassControl* control) {
    wire::BlockDecoder decoder;
    wire::DecodedBlock decoded;
    const auto& blocks = stream.blocks();
    const auto visit = [this](const StreamState& now, const HeapChange& change, const wire::DecodedBlock&) {
      note(now, change);
    };
    const auto skipped = [](const wire::DecodedBlock&, const RecordPlace&) {};
    for (std::size_t i = state.next_block(); i < blocks.size() && left_ > 0; ++i) {
      if (control != nullptr && control->cancelled) return false;
      if (decoder.decode(*blocks[i], decoded)) break;
      const HeapChangeObserver observer(decoded, state, stream.end_position(), visit, skipped);
      state.apply(decoded, i, stream.definitions(), stream.end_position(), observer);
      if (control != nullptr) control->done_events += blocks[i]->header.events;
    }
    return true;
  }

 private:
  void note(const StreamState& state, const HeapChange& change) {
    if (change.what == HeapChange::What::freed) {
      const std::uint32_t slot = change.block->slot;
      if (slot < row_of_slot_.size() && row_of_slot_[slot] != no_row) end(slot, change);
    } else if (change.place.kind == wire::RecordKind{} || change.place.kind == wire::RecordKind::heap_gone) {
      look_again(state, change);
    }
  }

  // The whole heap disappeared, or was listed again: remaining blocks may be in other slots.
  void look_again(const StreamState& state, const HeapChange& change) {
    std::unordered_map<std::uint64_t, std::uint32_t> by_event, by_address;
    for (const LiveBlock& block : state.slots()) {
      if (block.heap != change.heap) continue;
      if (block.event == wire::before_the_stream)
        by_address.emplace(block.address, block.slot);
      else
        by_event.emplace(block.event, block.slot);
    }
    std::vector<std::uint32_t> slots;
    for (std::uint32_t slot = 0; slot < row_of_slot_.size(); ++slot)
      if (row_of_slot_[slot] != no_row && blocks_[row_of_slot_[slot]].heap == change.heap) slots.push_back(slot);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> kept;  // Slot, row.
    for (const std::uint32_t slot : slots) {
      const std::uint32_t row = row_of_slot_[slot];
      const LiveBlock& block = blocks_[row];
      const bool is_old = block.event == wire::before_the_stream;
      const auto& known = is_old ? by_address : by_event;
      if (const auto found = known.find(is_old ? block.address : block.event); found == known.end()) {
        end(slot, change);
      } else {
        row_of_slot_[slot] = no_row;
        kept.emplace_back(found->second, row);
      }
    }
    for (const auto& [slot, row] : kept) {
      if (slot >= row_of_slot_.size()) row_of_slot_.resize(slot + std::size_t{1}, no_row);
      row_of_slot_[slot] = row;
    }
  }

  void end(std::uint32_t slot, const HeapChange& change) {
    LiveRow& row = rows_[row_of_slot_[slot]];
    row.end_event = change.place.kind == wire::RecordKind{} ? change.position : change.place.event;
    row.end_ns = change.time_ns;
    row_of_slot_[slot] = no_row;
    --left_;
  }

  std::span<LiveRow> rows_;
  std::vector<std::uint32_t> row_of_slot_;  // Only those that have not ended.
  std::vector<LiveBlock> blocks_;           // By row, as they were at the given time.
  std::size_t left_ = 0;
};

}  // namespace

std::optional<LiveRows> collect_live_rows(const Trace& trace, const std::vector<StreamState>& states, bool with_ends,
                                          PassControl* control) {
  if (control != nullptr && with_ends)
    for (std::size_t i = 0; i < states.size(); ++i)
      control->total_events += trace.streams[i].end_position() - states[i].position();
  LiveRows live;
  live.knows_ends = with_ends;
  for (std::uint32_t i = 0; i < states.size(); ++i) {
    const std::size_t first = live.rows.size();
    struct Place {
      std::uint32_t heap, slot;
      std::uint64_t address;
    };
    std::vector<Place> places;
    for (const LiveBlock& block : states[i].slots())
      if (block.is_live()) places.push_back({block.heap, block.slot, block.address});
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
      return std::tie(a.heap, a.address, a.slot) < std::tie(b.heap, b.address, b.slot);
    });
    live.rows.reserve(first + places.size());
    for (const Place& place : places)
      live.rows.push_back({i, place.slot, LiveRow::no_time, LiveRow::no_event, LiveRow::no_time});
    const std::span<LiveRow> rows = std::span(live.rows).subspan(first);
    if (trace.streams[i].has_times() && !find_allocation_times(trace.streams[i], states[i], rows, control))
      return std::nullopt;
    if (with_ends && !EndFinder(states[i], rows).run(trace.streams[i], states[i], control)) return std::nullopt;
  }
  return live;
}

BlockFacts facts_of(const Trace& trace, const std::vector<StreamState>& states, const LiveRow& row) {
  const Stream& stream = trace.streams[row.stream];
  const StreamState& state = states[row.stream];
  BlockFacts facts;
  facts.block = state.slots()[row.slot];
  facts.stream = row.stream;
  facts.heap = &stream.definitions().heap(facts.block.heap);
  if (facts.heap->has(wire::heap_flag::has_addresses) && facts.block.has_address()) facts.address = facts.block.address;
  if (facts.heap->has(wire::heap_flag::has_requested) && facts.block.requested != wire::unknown_bytes) {
    facts.requested = facts.block.requested;
    if (!facts.heap->has(wire::heap_flag::sizes_are_requests))
      facts.waste = facts.block.size - std::min(facts.block.size, facts.block.requested);
  }
  const auto since = [](std::int64_t later, std::int64_t earlier) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier));
  };
  if (facts.block.event != wire::before_the_stream)
    facts.age_events = state.position() - std::min(state.position(), facts.block.event);
  if (row.allocated_ns != LiveRow::no_time) {
    facts.allocated_since_start_ns = stream.since_start_ns(row.allocated_ns);
    facts.age_ns = since(state.time_ns(), row.allocated_ns);
  }
  if (row.end_event == LiveRow::no_event) return facts;
  facts.end_event = row.end_event;
  if (!stream.has_times()) return facts;
  facts.end_since_start_ns = stream.since_start_ns(row.end_ns);
  if (row.allocated_ns != LiveRow::no_time) facts.lifetime_ns = since(row.end_ns, row.allocated_ns);
  return facts;
}

std::string name_of_heap(const HeapInfo& heap) {
  return heap.name.empty() ? "heap " + std::to_string(heap.id) : heap.name;
}

}  // namespace hbmscope
