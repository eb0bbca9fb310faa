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

std::vector<NetChanges::Added> NetChanges::sort_added() const {
  std::vector<Added> added, scratch;
  added.reserve(entries_.size());
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
  return added;
}

}  // namespace hbmscope
