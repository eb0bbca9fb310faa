#include "collector/serve/unidentified_memory.h"

#include <algorithm>

#include "collector/wire/reported_names.h"

namespace hbmscope::serve {
namespace {

constexpr std::uint64_t invented_address = std::uint64_t{1} << 61;  // Above those of all devices.

}  // namespace

void UnidentifiedMemory::write(std::uint32_t heap, std::uint64_t bytes, std::int64_t time_ns) {
  wire::AllocRecord block;
  block.address = invented_address;
  block.size = bytes;
  block.requested = wire::unknown_bytes;
  block.heap = heap;
  block.tag = writer_.define_string(wire::not_identified);
  block.flags = wire::block_flag::has_no_address;
  writer_.alloc(block, time_ns);
}

void UnidentifiedMemory::note_before(std::uint32_t heap, std::uint64_t bytes, std::int64_t time_ns) {
  if (!before_.try_emplace(heap, Before{bytes, {}}).second || bytes == 0) return;
  write(heap, bytes, time_ns);
}

void UnidentifiedMemory::note_heap_gone(std::uint32_t heap) {
  before_.erase(heap);
  std::erase_if(listed_, [heap](const wire::AllocRecord& block) { return block.heap == heap; });
}

void UnidentifiedMemory::shrink(std::uint32_t heap, Before& before, std::uint64_t by_bytes, std::int64_t time_ns) {
  if (before.left_bytes == 0 || by_bytes == 0) return;
  writer_.free(heap, invented_address, 0, 0, time_ns);
  before.left_bytes -= std::min(by_bytes, before.left_bytes);
  if (before.left_bytes > 0) write(heap, before.left_bytes, time_ns);
}

bool UnidentifiedMemory::free(const wire::FreeAtRecord& free, std::int64_t time_ns) {
  const auto found = before_.find(free.heap);
  if (found == before_.end() || free.size == 0) return false;
  Before& before = found->second;
  // What was listed inside of the block is a part of it: all ends with it.
  std::uint64_t listed_bytes = 0;
  auto at = before.identified.lower_bound(free.address);
  while (at != before.identified.end() && at->first - free.address < free.size) {
    listed_bytes += at->second;
    blocks_.remove(free.heap, at->first);
    writer_.free(free.heap, at->first, at->second, free.stack, time_ns);
    at = before.identified.erase(at);
  }
  if (listed_bytes == 0 && (free.size > before.left_bytes || writer_.is_live(free.heap, free.address))) return false;
  shrink(free.heap, before, free.size - std::min(listed_bytes, free.size), time_ns);
  return true;
}

void UnidentifiedMemory::begin_list() {
  is_listing_ = true;
  listed_.clear();
  changed_.clear();
}

void UnidentifiedMemory::list(const wire::AllocRecord& block, std::int64_t time_ns) {
  if (is_listing_)
    listed_.push_back(block);
  else
    write_all({block}, time_ns);
}

void UnidentifiedMemory::end_list(std::int64_t time_ns) {
  std::erase_if(listed_, [this](const wire::AllocRecord& block) {
    return changed_.contains({block.heap, block.address});
  });
  is_listing_ = false;
  write_all(listed_, time_ns);
  listed_.clear();
  changed_.clear();
}

void UnidentifiedMemory::write_named(const wire::AllocRecord& block, std::int64_t time_ns) {
  wire::AttributeRecord attribute;
  attribute.allocation = writer_.alloc(block, time_ns);
  blocks_.add(block, attribute.allocation);
  attribute.key = writer_.define_string(wire::allocated_attribute);
  attribute.value = writer_.define_string(wire::before_attach);
  attribute.size = block.size;
  writer_.add(attribute, time_ns);
}

void UnidentifiedMemory::write_all(const std::vector<wire::AllocRecord>& blocks, std::int64_t time_ns) {
  std::map<std::uint32_t, std::map<std::uint64_t, const wire::AllocRecord*>> by_heap;  // Arrays may share a block.
  for (const wire::AllocRecord& block : blocks)
    if (block.size != 0 && !writer_.is_live(block.heap, block.address)) by_heap[block.heap][block.address] = &block;
  for (auto& [heap, listed] : by_heap) {
    if (const auto found = before_.find(heap); found != before_.end()) {
      Before& before = found->second;
      std::uint64_t bytes = 0;
      std::erase_if(listed, [&](const auto& each) {
        const std::uint64_t size = each.second->size;
        if (size > before.left_bytes - bytes) return true;
        bytes += size;
        return false;
      });
      for (const auto& [address, block] : listed) before.identified.emplace(address, block->size);
      shrink(heap, before, bytes, time_ns);
    }
    for (const auto& [address, block] : listed) write_named(*block, time_ns);
  }
}

}  // namespace hbmscope::serve
