#include "analysis/query/block_match.h"

#include <algorithm>
#include <map>

namespace hbmscope {

BlockFate fate_of(const LiveBlock& was, const LiveBlock& is) {
  if (!was.is_live()) return BlockFate::added;
  if (!is.is_live()) return BlockFate::gone;
  if (is.size != was.size) return is.size > was.size ? BlockFate::grown : BlockFate::shrunk;
  return is.address != was.address ? BlockFate::moved : BlockFate::unchanged;
}

// A block keeps its slot while it is live; only after a loss may it be listed in another one.
void match_blocks(const StreamState& baseline, const StreamState& now, const std::vector<bool>& counts,
                  const VisitBlockPair& visit) {
  const auto before = baseline.slots(), after = now.slots();
  // Blocks of `before` by allocation id.
  std::multimap<std::uint64_t, LiveBlock> left;
  std::vector<LiveBlock> came;
  for (std::size_t slot = 0; slot < std::max(before.size(), after.size()); ++slot) {
    const auto counted_block = [&](const StreamState::Slots& slots) {
      const LiveBlock block = slot < slots.size() ? slots[slot] : LiveBlock{};
      return counts[block.heap] ? block : LiveBlock{};
    };
    const LiveBlock was = counted_block(before), is = counted_block(after);
    if (was.is_live() && is.is_live() && was.event == is.event && was.heap == is.heap) {
      visit(was, is);
      continue;
    }
    if (is.is_live()) came.push_back(is);
    if (!was.is_live()) continue;
    if (was.event == wire::before_the_stream)
      visit(was, {});
    else
      left.emplace(was.event, was);
  }
  for (const LiveBlock& is : came) {
    const auto found = left.find(is.event);
    if (found == left.end()) {
      visit({}, is);
    } else {
      visit(found->second, is);
      left.erase(found);
    }
  }
  for (const auto& [event, was] : left) visit(was, {});
}

}  // namespace hbmscope
