#include "collector/serve/unidentified_memory.h"

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
  if (bytes == 0 || !left_.try_emplace(heap, bytes).second) return;
  write(heap, bytes, time_ns);
}

bool UnidentifiedMemory::free(const wire::FreeAtRecord& free, std::int64_t time_ns) {
  const auto left = left_.find(free.heap);
  if (left == left_.end() || free.size == 0 || free.size > left->second || writer_.is_live(free.heap, free.address))
    return false;
  left->second -= free.size;
  writer_.free(free.heap, invented_address, 0, free.stack, time_ns);
  if (left->second > 0)
    write(free.heap, left->second, time_ns);
  else
    left_.erase(left);
  return true;
}

}  // namespace hbmscope::serve
