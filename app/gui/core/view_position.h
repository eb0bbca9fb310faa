// What the user looks at on one side: everything that navigation changes and that Back restores.
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
#include "app/gui/core/heap_line.h"
#include "app/gui/core/heap_spans.h"
#include "app/gui/core/timeline_span.h"
#include "app/gui/core/view_lists.h"
#include "app/gui/sources/moment_name.h"
#include "app/gui/sources/source_id.h"

namespace hbmscope::gui {

// The time at which the baseline of a comparison is shown: the same one if it has a name (peak, end, oom, start),
// otherwise the baseline's peak, since an event number of one run means nothing in another.
MomentName baseline_moment_for(const MomentName& at);

// The request without its filters; it keeps the frame granularity and the values to count.
ViewRequest without_filters(const ViewRequest& request);

// The rows of Top: innermost lines of your code, all frames; what blocks are for, and what holds them (only traces
// whose job said so).
enum class TopBy : std::uint8_t { your_code, frames, category, name };

struct ViewPosition {
  SourceId source = SourceId::none;
  SourceId baseline = SourceId::none;  // none: no comparison.
  ViewKind view = ViewKind::summary;
  FrameKey selection;
  std::optional<std::uint64_t> log_line;  // Source shows the log around this line, not the code of the selected frame.
  ViewRequest request;
  FlameValue value = FlameValue::bytes;
  TreeDirection flame_direction = TreeDirection::callees;
  TreeDirection tree_direction = TreeDirection::callees;
  bool fold_library = true;
  StackMatch match = StackMatch::function;
  TopBy top_by = TopBy::your_code;
  std::string find;            // Highlighted in the flame graph; tables show only matching rows.
  std::vector<FrameKey> zoom;  // The flame graph's zoom, from the root's child down. Empty means everything.
  MomentName at;               // The selected time of a trace. Empty means the end.
  MomentName pin;              // The time that `at` is compared with. Empty if none is pinned.
  HeapKey heap;                // For traces. Empty means the heap that choose_heap() returns.
  bool all_devices = false;    // Tables and graphs are about all devices, not just the one of the heap.
  HeapColoring coloring = HeapColoring::automatic;
  MapLayout map_layout = MapLayout::automatic;
  std::string lit;                       // Only this legend entry keeps its colour. Empty if all do.
  std::optional<std::uint64_t> address;  // An address in the block or free block that is selected in the heap map.
  std::vector<std::uint64_t> also;       // Addresses in further blocks of the heap that are selected with it.
  TimelineSpan span;                     // The timeline's visible span. Empty means the whole trace.
  AddressRange addresses;                // Visible in Address x time and in the strip. Empty means the whole heap.
  TimeRange range;                       // The range selected in the timeline.
  bool overlays_step = false;            // The timeline shows the step before the current one over it.
  // The clicked pixel of the heap map, if `address` was the largest of many blocks in it.
  std::optional<AddressRange> cell;
  std::string table;    // The name of the answer in Tables. Empty: the first one that says something.
  std::string what_if;  // A setting that was typed in What if, to try besides the usual ones.
  BlockQuery blocks;    // Order and search of the table of blocks.

  bool is_at_end() const { return at.is_end(); }
  friend bool operator==(const ViewPosition&, const ViewPosition&) = default;
};

// A frame, a block or a gap.
inline bool has_selection(const ViewPosition& position) {
  return !position.selection.empty() || position.address || position.cell;
}

}  // namespace hbmscope::gui
