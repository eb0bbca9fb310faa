// The blocks of pools by their addresses, so that what is said about an address reaches the right allocation.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "collector/wire/ring_layout.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::serve {

class PoolBlocks {
 public:
  // A heap, by its id in the stream, whose blocks are kept here.
  void add_heap(std::uint32_t heap) {
    if (heap >= is_pool_.size()) is_pool_.resize(heap + std::size_t{1});
    is_pool_[heap] = true;
  }
  // Of any heap.
  void add(std::uint32_t heap, std::uint64_t address, std::uint64_t event) {
    if (has(heap)) blocks_[address] = {event};
  }
  void remove(std::uint32_t heap, std::uint64_t address) {
    if (has(heap)) blocks_.erase(address);
  }

  static bool is_meant(const wire::AttributeRecord& attribute) {
    return (attribute.allocation & wire::block_of_pool) != 0;
  }
  // Writes it about the block that is live at the address; not at all if there is none, or if it was the last thing
  // said about the block: a training step says the same about its donated arrays each time.
  void note(wire::AttributeRecord attribute, std::int64_t time_ns, wire::StreamWriter& writer) {
    const auto found = blocks_.find(attribute.allocation & ~wire::block_of_pool);
    if (found == blocks_.end()) return;
    Block& block = found->second;
    if (block.key == attribute.key && block.value == attribute.value) return;
    block.key = attribute.key;
    block.value = attribute.value;
    attribute.allocation = block.event;
    writer.add(attribute, time_ns);
  }

 private:
  struct Block {
    std::uint64_t event = 0;           // Of its allocation.
    std::uint32_t key = 0, value = 0;  // What was said last; 0: nothing.
  };
  bool has(std::uint32_t heap) const { return heap < is_pool_.size() && is_pool_[heap]; }

  std::vector<bool> is_pool_;                        // By heap.
  std::unordered_map<std::uint64_t, Block> blocks_;  // By address.
};

}  // namespace hbmscope::serve
