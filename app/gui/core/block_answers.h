// Answers about single blocks: those that live at the moment as a table, and what one address held.
#pragma once

#include <memory>
#include <vector>

#include "analysis/query/block_history.h"
#include "analysis/query/block_list.h"
#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {

struct LiveAnswer {
  std::shared_ptr<const TraceMoment> moment;
  LiveRows live;
};

// Blocks of one heap that Find found, by address.
struct HeapHits {
  HeapKey heap;
  std::vector<AddressRange> ranges;
};

struct BlocksAnswer {
  std::shared_ptr<const LiveAnswer> of;
  BlockQuery query;  // As it was asked for, the filter of all views in it.
  BlockList list;
  std::vector<HeapHits> hits;  // Where something was looked for.

  BlockFacts facts(std::uint32_t row) const {
    return facts_of(*of->moment->trace, of->moment->states, of->live.rows[row]);
  }
  const Stream& stream(std::uint32_t row) const { return of->moment->trace->streams[of->live.rows[row].stream]; }
  HeapKey heap(std::uint32_t row) const {
    const LiveRow& live = of->live.rows[row];
    return {live.stream, of->moment->states[live.stream].slots()[live.slot].heap};
  }
  const HeapHits* hits_of(HeapKey key) const {
    for (const HeapHits& one : hits)
      if (one.heap == key) return &one;
    return nullptr;
  }
};

struct AddressAnswer {
  HeapKey heap;
  AddressRange range;  // The block or gap that is selected.
  std::shared_ptr<const TraceMoment> moment;
  AddressHistory history;
};

}  // namespace hbmscope::gui
