#include "analysis/trace/net_changes.h"

#include "analysis/trace/radix_sort.h"

namespace hbmscope {

using wire::RecordKind;

bool NetChanges::is_plain(std::uint8_t kind) {
  switch (static_cast<RecordKind>(kind)) {
    case RecordKind::string:
    case RecordKind::frame:
    case RecordKind::stack:
    case RecordKind::module:
    case RecordKind::heap:
    case RecordKind::job:
    case RecordKind::clock:
    case RecordKind::code:
    case RecordKind::alloc:
    case RecordKind::free:
    case RecordKind::free_requested:
    case RecordKind::attribute:
    case RecordKind::driver_refusal:
    case RecordKind::out_of_memory:
    case RecordKind::marker:
    case RecordKind::counter: return true;
    default: return false;
  }
}

bool NetChanges::add(const wire::DecodedBlock& block, std::uint64_t end) {
  const auto kinds = block.kinds();
  const auto times = block.times_ns();
  const auto allocs = block.rows<wire::AllocRecord>();
  const auto frees = block.rows<wire::FreeRecord>();
  const auto requests = block.rows<wire::FreeRequestedRecord>();
  constexpr std::size_t ahead = 16;
  std::size_t alloc = 0, free = 0, request = 0;
  std::uint64_t event = block.header().first_event;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!wire::is_event(kinds[i])) continue;
    if (event >= end) {
      next_record_ = i;
      return false;
    }
    switch (static_cast<RecordKind>(kinds[i])) {
      case RecordKind::alloc: take(allocs[alloc++], event); break;
      case RecordKind::free:
        if (free + ahead < frees.size() && frees[free + ahead].slot < entries_by_slot_.size())
          __builtin_prefetch(&entries_by_slot_[frees[free + ahead].slot], 1);
        give_back(frees[free++].slot);
        break;
      case RecordKind::free_requested: note_requested(requests[request++].slot); break;
      default: break;
    }
    position_ = ++event;
    time_ns_ = times[i];
  }
  return true;
}

// Before this, the slot held what lived before; what it has now is in the entry.
wire::LiveRecord& NetChanges::entry_of(std::uint32_t slot) {
  std::uint32_t& entry = entries_by_slot_[slot];
  if (entry == untouched || entry == now_pending) {
    entry = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  }
  return entries_[entry];
}

void NetChanges::take(const wire::AllocRecord& record, std::uint64_t event) {
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(entries_by_slot_.size());
    entries_by_slot_.push_back(untouched);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  ++allocations_;
  wire::LiveRecord& block = entry_of(slot);
  block.address = record.address;
  block.size = record.size;
  block.requested = record.requested;
  block.event = event;
  block.heap = record.heap;
  block.slot = slot;
  block.stack = record.stack;
  block.stream = record.stream;
  block.tag = record.tag;
  block.flags = record.flags & ~wire::block_flag::is_loose;
}

void NetChanges::give_back(std::uint32_t slot) {
  free_slots_.push_back(slot);
  entry_of(slot).heap = 0;
}

void NetChanges::note_requested(std::uint32_t slot) {
  std::uint32_t& entry = entries_by_slot_[slot];
  if (entry == untouched)
    entry = now_pending;
  else if (entry != now_pending)
    entries_[entry].flags |= wire::block_flag::is_pending;
}

void NetChanges::sort_added(std::vector<Added>& added) const {
  std::vector<Added> scratch;
  added.reserve(entries_.size() + 1);
  std::uint64_t address_bits = 0, heap_bits = 0;
  for (std::uint32_t entry = 0; entry < entries_.size(); ++entry) {
    const wire::LiveRecord& block = entries_[entry];
    if (block.heap == 0) continue;
    added.push_back({block.address, block.heap, entry});
    address_bits |= block.address ^ added.front().address;
    heap_bits |= block.heap ^ added.front().heap;
  }
  radix_sort(added, scratch, address_bits, [](const Added& one) { return one.address; });
  radix_sort(added, scratch, heap_bits, [](const Added& one) { return std::uint64_t{one.heap}; });
  added.push_back({0, behind_all_heaps, 0});
}

// A block that is gone or taken anew stays out; whether one is cannot be foreseen, so that there is no branch on it.
void NetChanges::find_kept(std::span<wire::LiveRecord> piece, std::vector<wire::LiveRecord*>& kept) const {
  constexpr std::size_t ahead = 32;
  kept.resize(piece.size());
  std::size_t count = 0;
  for (std::size_t at = 0; at < piece.size(); ++at) {
    if (at + ahead < piece.size()) __builtin_prefetch(&entries_by_slot_[piece[at + ahead].slot]);
    const std::uint32_t entry = entries_by_slot_[piece[at].slot];
    piece[at].flags |= entry == now_pending ? wire::block_flag::is_pending : 0;
    kept[count] = &piece[at];
    count += entry >= now_pending ? 1 : 0;
  }
  kept.resize(count);
}

// Nor can it be foreseen which of two comes next.
void NetChanges::merge_piece(std::span<wire::LiveRecord> piece, Merge& merge) const {
  merge.live.clear();
  find_kept(piece, merge.kept);
  if (merge.kept.empty()) return;
  const std::uint32_t heap = piece.front().heap;
  add_heaps_before(heap, merge);
  const auto is_before = [heap](const Added& added, const wire::LiveRecord& block) {
    const bool is_lower = added.address < block.address, is_loose = (block.flags & wire::block_flag::is_loose) != 0;
    return static_cast<bool>(static_cast<int>(added.heap == heap) & (static_cast<int>(is_lower) | is_loose));
  };
  std::size_t end = merge.next;
  for (; is_before(merge.added[end], *merge.kept.back()); ++end) {
    const wire::LiveRecord& entry = entries_[merge.added[end].entry];  // Most lie in two cache lines.
    __builtin_prefetch(&entry.address);
    __builtin_prefetch(&entry.flags);
  }
  // The last one that is kept is the last of all, so that neither of the two runs out before it.
  std::size_t out = merge.live.size(), at = 0;
  merge.live.resize(out + merge.kept.size() + end - merge.next);
  for (; out < merge.live.size(); ++out) {
    const wire::LiveRecord* const block = merge.kept[at];
    const Added& added = merge.added[merge.next];
    const bool is_added = is_before(added, *block);
    merge.live[out] = is_added ? &entries_[added.entry] : block;
    merge.next += is_added ? 1 : 0;
    at += is_added ? 0 : 1;
  }
}

void NetChanges::add_heaps_before(std::uint32_t heap, Merge& merge) const {
  while (merge.added[merge.next].heap < heap) merge.live.push_back(&entries_[merge.added[merge.next++].entry]);
}

}  // namespace hbmscope
