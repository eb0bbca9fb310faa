#include "collector/serve/driver_memory.h"

#include <algorithm>
#include <utility>

namespace hbmscope::serve {

void DriverMemory::take(wire::AllocRecord block, std::int64_t time_ns) {
  const bool has_handle = (block.flags & wire::named_by_handle) != 0,
             is_of_module = (block.flags & wire::of_module) != 0;
  const std::uint32_t owner = (block.flags >> wire::owner_shift) & wire::owners_max;
  block.flags &= (1U << wire::owner_shift) - 1;
  if (first_heap_ == 0) first_heap_ = block.heap;
  const auto [found, is_new] = (has_handle ? array_blocks_ : blocks_).try_emplace(block.address);
  Block& known = found->second;
  if (!is_new && is_of_module && known.owner == owner) return;
  if (!is_new && is_call_out_) {
    if (known.is_reported) free(known, 0, time_ns);
    note_early(has_handle ? early_arrays_ : early_blocks_, known.key);
  } else if (!is_new && known.is_reported && (known.heap != block.heap || has_handle || block.size == 0)) {
    free(known, 0, time_ns);  // Its free was missed. The writer frees it in the heap in which it was at this address.
  }
  if (!is_new) take_from_owner(known);
  known = {};
  known.heap = block.heap;
  known.owner = owner;
  known.address = known.key = block.address;
  known.taken_at = ticks_;
  known.is_reported = block.size != 0;
  known.is_array = has_handle;
  add_to_owner(known);
  if (!known.is_reported) return;
  if (has_handle) {
    constexpr std::uint64_t spacing = 512;
    constexpr std::uint64_t size_max = std::uint64_t{1} << 48;  // So that a hostile job can't use up all addresses.
    known.address = block.address = next_address_;
    next_address_ += (std::min(block.size, size_max) / spacing + 1) * spacing;
  }
  known.event = writer_.alloc(block, time_ns);
  regions_.note_memory(block.address, block.size);
}

void DriverMemory::note_early(EarlyReports& early, std::uint64_t key, std::uint32_t rows) {
  EarlyRows& one = early[key];
  one.rows += rows;
  one.until = ticks_;
}

bool DriverMemory::was_early(EarlyReports& early, std::uint64_t key) {
  const auto found = early.find(key);
  if (found == early.end() || ticks_ >= found->second.until) return false;
  if (--found->second.rows == 0) early.erase(found);
  return true;
}

void DriverMemory::add_to_owner(Block& block) {
  if (block.owner == 0) return;
  Block*& first = owned_[block.owner];
  block.next = first;
  if (first != nullptr) first->previous = &block;
  first = &block;
}

void DriverMemory::take_from_owner(const Block& block) {
  if (block.owner == 0) return;
  if (block.next != nullptr) block.next->previous = block.previous;
  (block.previous != nullptr ? block.previous->next : owned_[block.owner]) = block.next;
}

void DriverMemory::forget(Blocks& blocks, Blocks::iterator block) {
  take_from_owner(block->second);
  blocks.erase(block);
}

void DriverMemory::give_all_of(const wire::FreeAtRecord& owner, std::int64_t time_ns) {
  const auto found = owned_.find(static_cast<std::uint32_t>(owner.address));
  if (found == owned_.end()) return;
  // Blocks allocated after the row took effect belong to a newer owner with the same number.
  Block* younger = nullptr;
  for (Block* block = found->second; block != nullptr;) {
    Block* const next = block->next;
    if (block->taken_at > ticks_) {
      block->next = younger;
      younger = block;
      block = next;
      continue;
    }
    if (block->is_reported) free(*block, owner.stack, time_ns);
    (block->is_array ? array_blocks_ : blocks_).erase(block->key);
    block = next;
  }
  owned_.erase(found);
  while (younger != nullptr) {
    Block& block = *younger;
    younger = block.next;
    block.next = block.previous = nullptr;
    add_to_owner(block);
  }
}

void DriverMemory::free(const Block& block, std::uint32_t stack, std::int64_t time_ns) {
  regions_.note_memory_gone(block.address, time_ns);
  writer_.free(block.heap, block.address, 0, stack, time_ns);
}

void DriverMemory::give(const wire::FreeAtRecord& free_at, std::int64_t time_ns) {
  if (was_early(early_blocks_, free_at.address)) return;
  const auto found = blocks_.find(free_at.address);
  const bool is_of_graph = found != blocks_.end() && !found->second.is_reported;
  if (found != blocks_.end() && !is_of_graph) {
    if (ticks_ < found->second.taken_at)
      return;  // The free of an earlier block at the address, which ended when this one began.
    free(found->second, free_at.stack, time_ns);
    forget(blocks_, found);
  } else if (const auto mapping = mappings_.find(free_at.address); mapping != mappings_.end()) {
    if (ticks_ < mapping->second.mapped_at) return;
    unmap_at(free_at.address, time_ns);
    // Another process' block has its address as its handle.
    wire::PhysicalReleaseRecord release_of_block;
    release_of_block.handle = free_at.address;
    if (handles_.contains(free_at.address)) release(release_of_block, time_ns);
  } else if (const auto handle = handles_.find(free_at.address); handle != handles_.end() && handle->second.size == 0) {
    handles_.erase(handle);   // Another process' block, which was not recorded because its size is unknown.
  } else if (!is_of_graph) {  // A graph's node may be freed as often as the graph is launched.
    writer_.free(free_at.heap != 0 ? free_at.heap : first_heap_, free_at.address, 0, free_at.stack, time_ns);
  }
}

void DriverMemory::give_handle(const wire::FreeAtRecord& free_at, std::int64_t time_ns) {
  if (was_early(early_arrays_, free_at.address)) return;
  const auto found = array_blocks_.find(free_at.address);
  if (found == array_blocks_.end() || ticks_ < found->second.taken_at) return;
  if (found->second.is_reported) free(found->second, free_at.stack, time_ns);
  forget(array_blocks_, found);
}

void DriverMemory::note(wire::AttributeRecord attribute, std::int64_t time_ns) {
  const auto found = blocks_.find(attribute.allocation);
  if (found == blocks_.end()) return;
  attribute.allocation = found->second.event;
  writer_.add(attribute, time_ns);
}

void DriverMemory::create(const wire::PhysicalCreateRecord& record, std::int64_t time_ns) {
  if (first_heap_ == 0) first_heap_ = record.heap;
  if (const auto there = handles_.find(record.handle); there != handles_.end() && is_call_out_) {
    wire::PhysicalReleaseRecord release;
    release.handle = record.handle;
    const Handle& gone = there->second;
    for (std::uint32_t i = 0; gone.size != 0 && i < gone.references; ++i) writer_.add(release, time_ns);
    note_early(early_handles_, record.handle, gone.references);
  }
  Handle handle;
  handle.heap = record.heap;
  handle.size = record.size;
  handle.created_at = ticks_;
  handle.owns_nothing = record.size == 0;
  handles_[record.handle] = handle;
  if (!handle.owns_nothing) writer_.add(record, time_ns);
}

void DriverMemory::import(wire::PhysicalImportRecord record, std::int64_t time_ns) {
  if (const auto found = handles_.find(record.handle); found != handles_.end()) {
    ++found->second.references;
    record.heap = found->second.heap;
    record.size = found->second.size;
    if (record.size == 0) return;
  } else {
    Handle handle;
    handle.heap = record.heap;
    handle.size = record.size;
    handles_[record.handle] = handle;
  }
  if (record.size != 0) writer_.add(record, time_ns);
}

void DriverMemory::export_handle(const wire::PhysicalExportRecord& record, std::int64_t time_ns) {
  const auto found = handles_.find(record.handle);
  if (found == handles_.end() || found->second.size != 0) writer_.add(record, time_ns);
}

void DriverMemory::release(const wire::PhysicalReleaseRecord& record, std::int64_t time_ns) {
  if (was_early(early_handles_, record.handle)) return;
  const auto found = handles_.find(record.handle);
  if (found != handles_.end() && ticks_ < found->second.created_at)
    return;  // The release of an earlier handle with the same number.
  const bool is_reported = found == handles_.end() || found->second.size != 0;
  if (found != handles_.end() && --found->second.references == 0) handles_.erase(found);
  if (is_reported) writer_.add(record, time_ns);
}

void DriverMemory::map(wire::MapRecord record, std::int64_t time_ns) {
  if (record.size == 0 || record.offset + record.size < record.size) return;  // No driver maps such a range.
  // Another process' block, whose handle is its address, may be mapped more than once.
  if (is_call_out_ && record.handle != record.address && unmap_at(record.address, time_ns))
    note_early(early_mappings_, record.address);
  if (const auto there = mappings_.find(record.address);
      there != mappings_.end() && there->second.handle == record.handle && there->second.size == record.size) {
    ++there->second.count;
    return;
  }
  Mapping mapping;
  mapping.size = record.size;
  mapping.mapped_at = ticks_;
  mapping.handle = record.handle;
  if (const auto found = handles_.find(record.handle); found != handles_.end()) {
    Handle& handle = found->second;
    record.heap = handle.heap;
    mapping.is_reported = !handle.owns_nothing;
    if (handle.size == 0 && !handle.owns_nothing) {
      handle.size = record.offset + record.size;
      wire::PhysicalImportRecord import;
      import.handle = record.handle;
      import.size = handle.size;
      import.heap = handle.heap;
      for (std::uint32_t i = 0; i < handle.references; ++i) writer_.add(import, time_ns);
    }
  }
  mapping.heap = record.heap;
  mappings_[record.address] = mapping;
  if (!mapping.is_reported) return;
  writer_.add(record, time_ns);
  regions_.note_memory(record.address, record.size, PoolRegions::Source::mapping);
}

bool DriverMemory::unmap_at(std::uint64_t address, std::int64_t time_ns) {
  const auto found = mappings_.find(address);
  if (found == mappings_.end()) return false;
  if (--found->second.count > 0) return true;
  wire::UnmapRecord record;
  record.address = address;
  record.size = found->second.size;
  record.heap = found->second.heap;
  const bool is_reported = found->second.is_reported;
  mappings_.erase(found);
  if (!is_reported) return true;
  regions_.note_memory_gone(address, time_ns);
  writer_.add(record, time_ns);
  return true;
}

void DriverMemory::unmap(const wire::UnmapRecord& range, std::int64_t time_ns) {
  bool has_any = was_early(early_mappings_, range.address);
  for (auto at = mappings_.lower_bound(range.address);
       at != mappings_.end() && at->first - range.address < range.size;) {
    const std::uint64_t address = at->first;
    const bool is_of_the_one_before = ticks_ < at->second.mapped_at;
    ++at;
    has_any = is_of_the_one_before || unmap_at(address, time_ns) || has_any;
  }
  if (!has_any) writer_.add(range, time_ns);
}

void DriverMemory::reserve(const wire::ReserveRecord& range, std::int64_t time_ns) {
  if (const auto there = reservations_.find(range.address); there != reservations_.end() && is_call_out_) {
    wire::UnreserveRecord gone;
    gone.address = range.address;
    gone.size = there->second.size;
    gone.heap = there->second.heap;
    writer_.add(gone, time_ns);
    note_early(early_reservations_, range.address);
  }
  reservations_[range.address] = {range.heap, range.size, ticks_};
  writer_.add(range, time_ns);
}

void DriverMemory::unreserve(wire::UnreserveRecord range, std::int64_t time_ns) {
  if (was_early(early_reservations_, range.address)) return;
  if (const auto found = reservations_.find(range.address); found != reservations_.end()) {
    if (ticks_ < found->second.reserved_at) return;
    range.heap = found->second.heap;
    reservations_.erase(found);
  }
  writer_.add(range, time_ns);
}

}  // namespace hbmscope::serve
