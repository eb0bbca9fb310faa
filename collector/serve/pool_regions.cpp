#include "collector/serve/pool_regions.h"

#include <iterator>

namespace hbmscope::serve {

void PoolRegions::note_memory(std::uint64_t address, std::uint64_t bytes, Source source) {
  memory_[address] = {bytes, 0, source};
  last_begin_ = last_end_ = 0;
}

void PoolRegions::note_memory_gone(std::uint64_t address, std::int64_t time_ns) {
  const auto found = memory_.find(address);
  if (found == memory_.end()) return;
  if (found->second.heap != 0) {
    wire::RegionShrinkRecord record;
    record.address = address;
    record.size = found->second.bytes;
    record.heap = found->second.heap;
    writer_.add(record, time_ns);
  }
  memory_.erase(found);
  last_begin_ = last_end_ = 0;
}

void PoolRegions::add_heap(std::uint32_t heap) {
  if (heap >= is_pool_.size()) is_pool_.resize(heap + 1);
  is_pool_[heap] = true;
}

std::map<std::uint64_t, PoolRegions::Memory>::iterator PoolRegions::find(std::uint64_t address) {
  auto found = memory_.upper_bound(address);
  if (found == memory_.begin()) return memory_.end();
  found = std::prev(found);
  return address - found->first < found->second.bytes ? found : memory_.end();
}

void PoolRegions::note_block(std::uint32_t heap, std::uint64_t address, std::uint64_t bytes, std::int64_t time_ns) {
  if (heap == last_heap_ && address >= last_begin_ && address + bytes <= last_end_) return;
  // A block may span mappings that follow each other (expandable segments).
  for (std::uint64_t at = address; at < address + bytes;) {
    const auto found = find(at);
    if (found == memory_.end()) return;
    Memory& memory = found->second;
    if (memory.heap != heap && memory.heap == 0) {
      memory.heap = heap;
      wire::RegionGrowRecord record;
      record.address = found->first;
      record.size = memory.bytes;
      record.heap = heap;
      if (memory.source == Source::mapping) record.flags = wire::region_flag::joins_neighbours;
      writer_.add(record, time_ns);
    }
    last_heap_ = heap;
    last_begin_ = found->first;
    at = last_end_ = found->first + memory.bytes;
  }
}

void PoolRegions::note_heap_gone(std::uint32_t heap) {
  for (auto& [address, memory] : memory_)
    if (memory.heap == heap) memory.heap = 0;
  last_begin_ = last_end_ = 0;
}

}  // namespace hbmscope::serve
