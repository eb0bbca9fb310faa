// Where a person looks: everything about one side that looking around changes, and that Back brings back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/address_range.h"
#include "analysis/query/block_list.h"
#include "analysis/query/call_tree.h"
#include "analysis/query/chosen_heap.h"
#include "analysis/query/diff.h"
#include "analysis/query/flame.h"
#include "analysis/query/profile_view.h"
#include "app/gui/core/frame_key.h"
#include "app/gui/core/heap_pieces.h"
#include "app/gui/core/timeline_span.h"
#include "app/gui/core/view_kind.h"
#include "app/gui/sources/moment_name.h"
#include "app/gui/sources/source_id.h"

namespace hbmscope::gui {

// At which moment the baseline of a comparison is shown: at the same one where it has a name (peak, end, oom, start),
// else at its peak, since an event number of one run says nothing about another.
MomentName baseline_moment_for(const MomentName& at);

// The request when its filters are cleared: what is one frame, and which values count.
ViewRequest without_filters(const ViewRequest& request);

struct ViewPosition {
  SourceId source = SourceId::none;
  SourceId baseline = SourceId::none;  // none: nothing is compared.
  ViewKind view = ViewKind::summary;
  FrameKey selection;
  ViewRequest request;
  FlameValue value = FlameValue::bytes;
  TreeDirection flame_direction = TreeDirection::callees;
  TreeDirection tree_direction = TreeDirection::callees;
  bool fold_library = true;
  StackMatch match = StackMatch::function;
  std::string find;            // Highlighted in the flame graph; tables show the rows that match.
  std::vector<FrameKey> zoom;  // The flame graph's: from the root's child down. Empty: all of it.
  MomentName at;               // The moment of a trace. Empty: the end.
  MomentName pin;              // The moment that `at` is compared with. Empty: none is pinned.
  HeapKey heap;                // Of a trace; empty: the one that choose_heap() gives.
  HeapColoring coloring = HeapColoring::automatic;
  bool by_region = false;                // The heap map gives each region rows of its own.
  std::string lit;                       // Only this entry of its legend keeps its colour; empty: all do.
  std::optional<std::uint64_t> address;  // What is selected in the heap map: the block or free piece that lies there.
  TimelineSpan span;                     // What the timeline shows; empty: all of it.
  AddressRange addresses;                // What addresses over time show of the heap; empty: all of it.
  TimeRange range;                       // What is selected in it.
  std::optional<AddressRange> cell;      // It was the largest of many in this pixel of the heap map.
  BlockQuery blocks;                     // The table of blocks: order, and what is looked for.

  bool is_at_end() const { return at.is_end(); }
  friend bool operator==(const ViewPosition&, const ViewPosition&) = default;
};

}  // namespace hbmscope::gui
