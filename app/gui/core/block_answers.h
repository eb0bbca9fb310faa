// Answers about single blocks: the table of blocks at the selected time, and the history of one address.
#pragma once

#include <memory>
#include <vector>

#include "analysis/query/block_history.h"
#include "analysis/query/block_labels.h"
#include "analysis/query/block_list.h"
#include "analysis/query/program_parts.h"
#include "analysis/query/same_memory.h"
#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {

struct LiveAnswer {
  std::shared_ptr<const TraceMoment> moment;
  LiveRows live;
  std::vector<BlockLabels> labels;  // By stream.
};

// Blocks of one heap that match Find, by address.
struct HeapHits {
  HeapKey heap;
  std::vector<AddressRange> ranges;
};

// The blocks that were at an address at other times than the shown one.
struct GoneBlocks {
  HeapKey heap;
  std::uint64_t address = 0, blocks = 0;
  std::optional<HeldRow> last, next;  // The one before the shown time, and the one after it.
};

struct BlocksAnswer {
  std::shared_ptr<const LiveAnswer> of;
  BlockQuery query;  // As requested, combined with the filter of all views.
  BlockList list;
  std::vector<HeapHits> hits;           // Empty if Find is empty.
  std::optional<GoneBlocks> gone = {};  // If it looks for an address that is free now, and was not always.

  BlockFacts facts(std::uint32_t row) const {
    return facts_of(*of->moment->trace, of->moment->states, of->live.rows[row]);
  }
  const BlockLabels& labels(std::uint32_t row) const { return of->labels[of->live.rows[row].stream]; }
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
  AddressRange range;  // The selected block or gap.
  std::shared_ptr<const TraceMoment> moment;
  AddressHistory history;
  std::vector<SameMemory> elsewhere;  // The block as other heaps see it.
  std::vector<ProgramPart> parts;     // What it may be of compiled programs.
  std::vector<ProgramValue> values;   // In the first part, if it holds temporaries; the largest first.
};

}  // namespace hbmscope::gui
