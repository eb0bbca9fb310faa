// The blocks of pools by their addresses, so that what is said about an address reaches the right allocation.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
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
  // The block may be of any heap. `event` is the number of its allocation.
  void add(const wire::AllocRecord& block, std::uint64_t event) {
    if (has(block.heap)) blocks_[block.address] = {event, block.size, block.heap, block.stack, {}};
  }
  void remove(std::uint32_t heap, std::uint64_t address) {
    if (has(heap)) blocks_.erase(address);
  }
  void move(std::uint32_t heap, std::uint64_t from, std::uint64_t to) {
    if (!has(heap)) return;
    auto node = blocks_.extract(from);
    if (node.empty()) return;
    node.key() = to;
    blocks_.insert(std::move(node));
  }
  void remove_heap(std::uint32_t heap) {
    if (has(heap)) std::erase_if(blocks_, [heap](const auto& each) { return each.second.heap == heap; });
  }

  static bool is_meant(const wire::AttributeRecord& attribute) {
    return (attribute.allocation & wire::block_of_pool) != 0;
  }
  // Writes it about the block that is live at the address; not at all if there is none, or if it was the last thing
  // said about the block under that key: a training step says the same about its donated arrays each time.
  void note(wire::AttributeRecord attribute, std::int64_t time_ns, wire::StreamWriter& writer) {
    const auto found = blocks_.find(attribute.allocation & ~wire::block_of_pool);
    if (found == blocks_.end()) return;
    Block& block = found->second;
    std::uint32_t& value = said_of(block, attribute.key);
    if (value == attribute.value) return;
    value = attribute.value;
    attribute.allocation = block.event;
    attribute.stack = block.stack;
    attribute.size = block.size;
    writer.add(attribute, time_ns);
  }

 private:
  struct Fact {
    std::uint32_t key = 0, value = 0;
  };
  struct Block {
    std::uint64_t event = 0, size = 0;
    std::uint32_t heap = 0, stack = 0;
    std::array<Fact, 4> said = {};  // Last, by key; the first key that was said comes first.
  };
  // The value that was said last; if too many keys are in use, the last place changes its key.
  static std::uint32_t& said_of(Block& block, std::uint32_t key) {
    for (Fact& fact : block.said) {
      if (fact.key != key && fact.key != 0) continue;
      fact.key = key;
      return fact.value;
    }
    block.said.back() = {key, 0};
    return block.said.back().value;
  }
  bool has(std::uint32_t heap) const { return heap < is_pool_.size() && is_pool_[heap]; }

  std::vector<bool> is_pool_;                        // By heap.
  std::unordered_map<std::uint64_t, Block> blocks_;  // By address.
};

}  // namespace hbmscope::serve
