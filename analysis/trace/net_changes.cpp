#include "analysis/trace/net_changes.h"

#include <algorithm>

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

NetChanges::NetChanges(std::size_t slot_count, std::vector<std::uint32_t> free_slots, std::size_t events)
    : last_by_slot_(slot_count, untouched), free_slots_(std::move(free_slots)) {
  const std::size_t allocations = events / 2 + 1;  // Most are given back.
  free_slots_.reserve(free_slots_.size() + allocations);
  records_.reserve(allocations);
  taken_.reserve(allocations);
}

bool NetChanges::add(const wire::DecodedBlock& block, std::uint64_t end) {
  const auto kinds = block.kinds();
  const auto frees = block.rows<wire::FreeRecord>();
  const auto requests = block.rows<wire::FreeRequestedRecord>();
  constexpr std::size_t ahead = 16;
  const std::uint64_t block_event = block.header().first_event;
  if (taken_.empty()) first_event_ = block_event;
  const auto event_in_stretch = static_cast<std::uint32_t>(block_event - first_event_);
  const auto allocs = block.rows<wire::AllocRecord>();
  records_.insert(records_.end(), allocs.begin(), allocs.end());
  const std::uint64_t room = end - std::min(end, block_event);  // For events.
  std::size_t free = 0, request = 0, at = 0, last = 0;
  std::uint32_t events = 0;
  for (; at < kinds.size(); ++at) {
    if (!wire::is_event(kinds[at])) continue;
    if (events >= room) break;
    switch (static_cast<RecordKind>(kinds[at])) {
      case RecordKind::alloc: {
        const std::uint32_t slot = take_slot();
        last_by_slot_[slot] = static_cast<std::uint32_t>(taken_.size());
        taken_.push_back({slot, event_in_stretch + events});
        break;
      }
      case RecordKind::free: {
        if (free + ahead < frees.size() && frees[free + ahead].slot < last_by_slot_.size())
          __builtin_prefetch(&last_by_slot_[frees[free + ahead].slot], 1);
        const std::uint32_t slot = frees[free++].slot;
        free_slots_.push_back(slot);
        last_by_slot_[slot] = given_back;
        break;
      }
      case RecordKind::free_requested: note_requested(requests[request++].slot); break;
      default: break;
    }
    ++events;
    last = at;
  }
  records_.resize(taken_.size());
  if (events > 0) {
    position_ = block_event + events;
    time_ns_ = block.times_ns().empty() ? block.header().last_time_ns : block.times_ns()[last];
  }
  if (at == kinds.size()) return true;
  next_record_ = at;
  return false;
}

std::uint32_t NetChanges::take_slot() {
  if (free_slots_.empty()) {
    last_by_slot_.push_back(untouched);
    return static_cast<std::uint32_t>(last_by_slot_.size() - 1);
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void NetChanges::note_requested(std::uint32_t slot) {
  std::uint32_t& last = last_by_slot_[slot];
  if (last < taken_.size())
    records_[last].flags |= wire::block_flag::is_pending;
  else if (last == untouched)
    last = now_pending;
}

wire::LiveRecord NetChanges::live_record(std::uint32_t taken) const {
  const wire::AllocRecord& record = records_[taken];
  return {.address = record.address,
          .size = record.size,
          .requested = record.requested,
          .event = first_event_ + taken_[taken].event,
          .heap = record.heap,
          .slot = taken_[taken].slot,
          .stack = record.stack,
          .stream = record.stream,
          .tag = record.tag,
          .flags = record.flags & ~wire::block_flag::is_loose};
}

void NetChanges::finish() {
  constexpr std::size_t ahead = 16;
  struct Key {
    std::uint64_t address;
    std::uint32_t heap, taken;
  };
  std::vector<Key> keys, scratch;
  std::uint64_t address_bits = 0, heap_bits = 0;
  for (std::uint32_t taken = 0; taken < taken_.size(); ++taken) {
    if (taken + ahead < taken_.size()) __builtin_prefetch(&last_by_slot_[taken_[taken + ahead].slot]);
    const wire::AllocRecord& record = records_[taken];
    if (last_by_slot_[taken_[taken].slot] != taken || record.heap == 0) continue;
    keys.push_back({record.address, record.heap, taken});
    address_bits |= record.address ^ keys.front().address;
    heap_bits |= record.heap ^ keys.front().heap;
  }
  radix_sort(keys, scratch, address_bits, [](const Key& key) { return key.address; });
  radix_sort(keys, scratch, heap_bits, [](const Key& key) { return std::uint64_t{key.heap}; });
  added_.reserve(keys.size() + 1);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + ahead < keys.size()) {
      __builtin_prefetch(&records_[keys[i + ahead].taken]);
      __builtin_prefetch(&taken_[keys[i + ahead].taken]);
    }
    added_.push_back(live_record(keys[i].taken));
  }
  added_.push_back({.heap = behind_all_heaps});
}

// A block that is gone or taken anew stays out; whether one is cannot be foreseen, so that there is no branch on it.
void NetChanges::merge_piece(std::uint32_t heap, std::span<wire::LiveRecord> piece, const wire::LiveRecord*& next,
                             std::vector<const wire::LiveRecord*>& live) const {
  constexpr std::size_t ahead = 32;
  const auto is_before = [heap](const wire::LiveRecord& added, const wire::LiveRecord& block) {
    const bool is_lower = added.address < block.address, is_loose = (block.flags & wire::block_flag::is_loose) != 0;
    return static_cast<bool>(static_cast<int>(added.heap == heap) & (static_cast<int>(is_lower) | is_loose));
  };
  const wire::LiveRecord* end = next;
  while (is_before(*end, piece.back())) ++end;
  live.resize(piece.size() + static_cast<std::size_t>(end - next));
  std::size_t count = 0;
  for (std::size_t at = 0; at < piece.size(); ++at) {
    if (at + ahead < piece.size()) __builtin_prefetch(&last_by_slot_[piece[at + ahead].slot]);
    wire::LiveRecord& block = piece[at];
    while (is_before(*next, block)) live[count++] = next++;
    const std::uint32_t last = last_by_slot_[block.slot];
    block.flags |= last == now_pending ? wire::block_flag::is_pending : 0;
    live[count] = &block;
    count += last >= now_pending ? 1 : 0;
  }
  live.resize(count);
}

}  // namespace hbmscope
