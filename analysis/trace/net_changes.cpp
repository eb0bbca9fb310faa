#include "analysis/trace/net_changes.h"

#include <algorithm>

#include "analysis/trace/radix_sort.h"
#include "analysis/trace/take_slot.h"

namespace hbmscope {

using wire::RecordKind;

bool NetChanges::is_plain(std::uint8_t kind) {
  using wire::RecordRole;
  const wire::RecordDescription* record = wire::find_record(kind);
  if (record == nullptr) return false;
  return record->role == RecordRole::definition || record->role == RecordRole::block ||
         record->role == RecordRole::note;
}

NetChanges::NetChanges(std::size_t slot_count, std::vector<std::uint32_t> free_slots, std::size_t events)
    : last_by_slot_(slot_count, untouched), free_slots_(std::move(free_slots)) {
  const std::size_t allocations = events / 2 + events / 16 + 1;  // Most are freed again.
  free_slots_.reserve(free_slots_.size() + allocations);
  records_.reserve(allocations);
  taken_.reserve(allocations);
}

NetChanges::Rest NetChanges::rest_of(const wire::DecodedBlock& block, std::size_t begin, std::uint64_t end) {
  Rest rest{begin, block.header().first_event};
  for (const std::uint8_t kind : block.kinds().first(begin)) {
    rest.event += wire::is_event(kind) ? 1 : 0;
    rest.allocs += kind == static_cast<std::uint8_t>(RecordKind::alloc) ? 1 : 0;
    rest.frees += kind == static_cast<std::uint8_t>(RecordKind::free) ? 1 : 0;
    rest.requests += kind == static_cast<std::uint8_t>(RecordKind::free_requested) ? 1 : 0;
  }
  rest.room = end - std::min(end, rest.event);
  return rest;
}

bool NetChanges::add(const wire::DecodedBlock& block, std::size_t begin, std::uint64_t end) {
  const auto kinds = block.kinds();
  const auto allocs = block.rows<wire::AllocRecord>();
  const Rest rest = rest_of(block, begin, end);
  if (taken_.empty()) first_event_ = rest.event;
  const bool are_all_usual = kinds.size() == allocs.size() + block.rows<wire::FreeRecord>().size();
  const Passed passed = are_all_usual ? add_usual(block, rest) : add_any(block, rest);
  const auto taken = allocs.subspan(rest.allocs, taken_.size() - records_.size());
  records_.insert(records_.end(), taken.begin(), taken.end());
  if (passed.events > 0) {
    position_ = rest.event + passed.events;
    time_ns_ = block.times_ns().empty() ? block.header().last_time_ns : block.times_ns()[passed.last];
  }
  if (passed.records == kinds.size()) return true;
  next_record_ = passed.records;
  return false;
}

// Handles allocations and frees only. Which of the two comes next is unpredictable, so there is no branch on it.
NetChanges::Passed NetChanges::add_usual(const wire::DecodedBlock& block, const Rest& rest) {
  constexpr std::size_t ahead = 16;
  const auto kinds = block.kinds().subspan(rest.record);
  const auto frees = block.rows<wire::FreeRecord>().subspan(rest.frees);
  const auto events = static_cast<std::uint32_t>(std::min<std::uint64_t>(kinds.size(), rest.room));
  const auto first_event = static_cast<std::uint32_t>(rest.event - first_event_);
  std::size_t taken = taken_.size(), vacant = free_slots_.size(), free = 0;
  taken_.resize(taken + kinds.size() - frees.size() + 1);
  free_slots_.resize(vacant + frees.size() + 1);
  for (std::uint32_t event = 0; event < events; ++event) {
    const std::size_t is_free = kinds[event] == static_cast<std::uint8_t>(RecordKind::free) ? 1 : 0;
    const std::size_t is_alloc = 1 - is_free;
    if (free + ahead < frees.size() && frees[free + ahead].slot < last_by_slot_.size())
      __builtin_prefetch(&last_by_slot_[frees[free + ahead].slot], 1);
    if (is_alloc > vacant) {
      free_slots_[vacant++] = static_cast<std::uint32_t>(last_by_slot_.size());
      last_by_slot_.push_back(untouched);
    }
    // The top of the stack: the slot to take, or the place for the freed one.
    std::uint32_t* const top = free_slots_.data() + vacant - is_alloc;
    const std::uint32_t slot = *(is_free != 0 ? &frees.data()[free].slot : top);
    *top = slot;
    last_by_slot_[slot] = is_free != 0 ? given_back : static_cast<std::uint32_t>(taken);
    taken_[taken] = {slot, first_event + event};
    vacant += is_free - is_alloc;
    taken += is_alloc;
    free += is_free;
  }
  taken_.resize(taken);
  free_slots_.resize(vacant);
  return {rest.record + events, events, rest.record + (events == 0 ? 0 : events - 1)};
}

NetChanges::Passed NetChanges::add_any(const wire::DecodedBlock& block, const Rest& rest) {
  const auto kinds = block.kinds();
  const auto frees = block.rows<wire::FreeRecord>();
  const auto requests = block.rows<wire::FreeRequestedRecord>();
  const auto first_event = static_cast<std::uint32_t>(rest.event - first_event_);
  std::size_t free = rest.frees, request = rest.requests;
  Passed passed{rest.record};
  for (; passed.records < kinds.size(); ++passed.records) {
    if (!wire::is_event(kinds[passed.records])) continue;
    if (passed.events >= rest.room) break;
    switch (static_cast<RecordKind>(kinds[passed.records])) {
      case RecordKind::alloc: {
        const std::uint32_t slot = take_slot(last_by_slot_, free_slots_, untouched);
        last_by_slot_[slot] = static_cast<std::uint32_t>(taken_.size());
        taken_.push_back({slot, first_event + passed.events});
        break;
      }
      case RecordKind::free: {
        const std::uint32_t slot = frees[free++].slot;
        free_slots_.push_back(slot);
        last_by_slot_[slot] = given_back;
        break;
      }
      case RecordKind::free_requested: note_requested(requests[request++].slot); break;
      default: break;
    }
    ++passed.events;
    passed.last = passed.records;
  }
  return passed;
}

void NetChanges::note_requested(std::uint32_t slot) {
  std::uint32_t& last = last_by_slot_[slot];
  if (last < taken_.size())
    pending_.push_back(last);
  else if (last == untouched)
    last = now_pending;
}

void NetChanges::finish() {
  constexpr std::size_t ahead = 16;
  for (const std::uint32_t taken : pending_) records_[taken].flags |= wire::block_flag::is_pending;
  // Twice the space needed, as scratch for sorting; left uninitialised.
  added_memory_ = std::make_unique_for_overwrite<Added[]>(2 * (taken_.size() + 1));
  added_ = {added_memory_.get(), taken_.size() + 1};
  std::span<Added> scratch(added_memory_.get() + added_.size(), added_.size());
  std::uint64_t address_bits = 0, heap_bits = 0;
  std::size_t count = 0;
  for (std::uint32_t taken = 0; taken < taken_.size(); ++taken) {
    if (taken + ahead < taken_.size()) __builtin_prefetch(&last_by_slot_[taken_[taken + ahead].slot]);
    const wire::AllocRecord& record = records_[taken];
    const bool is_there = static_cast<bool>(static_cast<int>(last_by_slot_[taken_[taken].slot] == taken) &
                                            static_cast<int>(record.heap != 0));
    added_[count] = {record.address, record.heap, taken};
    address_bits |= is_there ? record.address ^ added_.front().address : 0;
    heap_bits |= is_there ? record.heap ^ added_.front().heap : 0;
    count += is_there ? 1 : 0;
  }
  std::span<Added> sorted = added_.first(count);
  scratch = scratch.first(count);
  radix_sort(sorted, scratch, address_bits, [](const Added& added) { return added.address; });
  radix_sort(sorted, scratch, heap_bits, [](const Added& added) { return std::uint64_t{added.heap}; });
  added_ = {sorted.data(), count + 1};
  added_.back() = {~std::uint64_t{0}, behind_all_heaps, 0};
}

std::size_t NetChanges::added_blocks(std::uint32_t heap) const {
  const auto first_from = [&](std::uint32_t from) {
    return std::partition_point(added_.begin(), added_.end(), [&](const Added& added) { return added.heap < from; });
  };
  return static_cast<std::size_t>(first_from(heap + 1) - first_from(heap));
}

void NetChanges::read_added(std::size_t begin, std::size_t end, LiveColumns& columns, std::size_t row) const {
  constexpr std::size_t ahead = 24;
  for (std::size_t i = begin; i < end; ++i, ++row) {
    if (i + ahead < added_.size()) {
      __builtin_prefetch(&records_[added_[i + ahead].taken]);
      __builtin_prefetch(&records_[added_[i + ahead].taken].flags);  // May be in the next cache line.
      __builtin_prefetch(&taken_[added_[i + ahead].taken]);
    }
    const wire::AllocRecord& record = records_[added_[i].taken];
    const Taken& taken = taken_[added_[i].taken];
    columns.address[row] = record.address;
    columns.size[row] = record.size;
    columns.requested[row] = record.requested;
    columns.event[row] = first_event_ + taken.event;
    columns.slot[row] = taken.slot;
    columns.stack[row] = record.stack;
    columns.stream[row] = record.stream;
    columns.tag[row] = record.tag;
    columns.flags[row] = record.flags & ~wire::block_flag::is_loose;
  }
}

// Drops blocks that were freed or whose slot was reused. Whether a block was is unpredictable, so there is no branch on
// it.
void NetChanges::merge_rows(std::uint32_t heap, std::size_t rows, Merge& merge) const {
  constexpr std::size_t ahead = 32;
  constexpr std::uint64_t above_all = ~std::uint64_t{0};
  LiveColumns& columns = merge.columns;
  std::size_t inside = rows;  // Loose ones come last, after all added ones.
  while (inside > 0 && (columns.flags[inside - 1] & wire::block_flag::is_loose) != 0) --inside;
  const std::uint64_t end_address = inside > 0 && inside == rows ? columns.address[rows - 1] : above_all;
  const std::size_t room = LiveColumns::rows_max - merge.rows - 1;  // One row for the sentinel.
  std::size_t end = merge.next;
  while (end - merge.next < room && added_[end].heap == heap && added_[end].address < end_address) ++end;
  const std::size_t rows_and_added = merge.rows + (end - merge.next);
  read_added(merge.next, end, columns, merge.rows);
  columns.address[rows_and_added] = above_all;

  std::size_t added = merge.rows, count = 0;
  const auto keep = [&](std::size_t row) {
    if (row + ahead < rows) __builtin_prefetch(&last_by_slot_[columns.slot[row + ahead]]);
    const std::uint32_t last = last_by_slot_[columns.slot[row]];
    columns.flags[row] |= last == now_pending ? wire::block_flag::is_pending : 0;
    merge.chosen[count] = static_cast<std::uint16_t>(row);
    count += last >= now_pending ? 1 : 0;
  };
  // If not all added blocks have room, stop at the last one that does.
  const bool is_full = end - merge.next == room;
  std::size_t row = merge.row, row_end = inside;
  if (is_full && row < inside)
    row_end = static_cast<std::size_t>(std::upper_bound(columns.address.begin() + row, columns.address.begin() + inside,
                                                        columns.address[rows_and_added - 1]) -
                                       columns.address.begin());
  for (; row < row_end; ++row) {
    while (columns.address[added] < columns.address[row]) merge.chosen[count++] = static_cast<std::uint16_t>(added++);
    keep(row);
  }
  while (added < rows_and_added) merge.chosen[count++] = static_cast<std::uint16_t>(added++);
  if (!is_full)
    for (; row < rows; ++row) keep(row);
  merge.row = row;
  merge.next = end;
  merge.count = count;
}

}  // namespace hbmscope
