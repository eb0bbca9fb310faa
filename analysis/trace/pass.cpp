#include "analysis/trace/pass.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace hbmscope {
namespace {

// Identifies a block by its allocation id, or by address and size if it is from before the stream.
std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> key_of(const LiveBlock& block) {
  const bool has_id = block.event != wire::before_the_stream;
  return {block.event, has_id ? 0 : block.address, has_id ? 0 : block.size};
}

}  // namespace

void ClearedBlocks::note(const StreamState& state, std::uint32_t heap) {
  if (heap != 0 && state.heap(heap).live_blocks == 0) return;
  for (const LiveBlock& block : state.slots())
    if (block.is_live() && (heap == 0 || block.heap == heap)) blocks_.push_back(block);
}

std::vector<LiveBlock> ClearedBlocks::take(const StreamState& state, std::uint32_t heap) {
  const auto of_heap =
      std::stable_partition(blocks_.begin(), blocks_.end(), [&](const LiveBlock& block) { return block.heap != heap; });
  std::vector<LiveBlock> went;
  if (of_heap == blocks_.end()) return went;
  std::set<decltype(key_of({}))> known;
  for (const LiveBlock& block : state.slots())
    if (block.heap == heap) known.insert(key_of(block));
  std::copy_if(of_heap, blocks_.end(), std::back_inserter(went),
               [&](const LiveBlock& block) { return known.insert(key_of(block)).second; });
  blocks_.erase(of_heap, blocks_.end());
  return went;
}

}  // namespace hbmscope
