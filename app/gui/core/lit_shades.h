// The groups of a walk over a heap: the names or steps of its blocks by a coloring, each divided into the blocks that a
// filter selects and the others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "analysis/query/block_list_where.h"
#include "app/gui/core/block_shades.h"
#include "app/gui/core/stack_course.h"

namespace hbmscope::gui {

class LitShades {
 public:
  // All must outlive it.
  LitShades(const Trace& trace, const BlockLabels& labels, const StackQuery& query)
      : trace_(trace),
        stream_(query.heap.stream),
        shades_(trace.streams[stream_].definitions(), labels, row_of(query.coloring), *query.colors) {
    if (query.where.empty()) return;
    if (auto made = BlockMatcher::make(trace, {}, query.where)) matcher_ = std::move(*made);
  }

  std::uint32_t number_of(const LiveBlock& block) {
    return 2 * shades_.number_of(block) + (!matcher_ || matches(block) ? 1 : 0);
  }
  std::uint32_t number_of(const PhysicalHandle& handle) { return 2 * shades_.number_of(handle) + (matcher_ ? 0 : 1); }
  Shade shade_of(std::uint32_t number) const { return shades_.names()[number / 2].entry.shade; }
  static bool is_lit(std::uint32_t number) { return number % 2 == 1; }

 private:
  bool matches(const LiveBlock& block) const {
    BlockFacts facts;
    facts.block = block;
    facts.stream = stream_;
    facts.heap = &trace_.streams[stream_].definitions().heap(block.heap);
    if (block.has_address()) facts.address = block.address;
    if (block.requested != wire::unknown_bytes) {
      facts.requested = block.requested;
      facts.waste = block.size - std::min(block.size, block.requested);
    }
    if (block.event != wire::before_the_stream) facts.age_events = 0;
    return matcher_->matches(facts);
  }

  const Trace& trace_;
  std::uint32_t stream_;
  BlockShades shades_;
  std::optional<BlockMatcher> matcher_;
};

}  // namespace hbmscope::gui
