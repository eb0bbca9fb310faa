// What every view keeps for itself, in one place that lives as long as the window.
#pragma once

#include <array>
#include <set>

#include "app/gui/look/side_by_side.h"
#include "app/gui/shell/file_dialog.h"
#include "app/gui/shell/filter_line.h"
#include "app/gui/shell/help_window.h"
#include "app/gui/shell/palette_window.h"
#include "app/gui/shell/shell.h"
#include "app/gui/views/address_time/draw_address_time.h"
#include "app/gui/views/beside/draw_beside.h"
#include "app/gui/views/blocks/draw_blocks.h"
#include "app/gui/views/call_tree/draw_call_tree.h"
#include "app/gui/views/compare/draw_compare.h"
#include "app/gui/views/diff/draw_diff.h"
#include "app/gui/views/events/draw_events.h"
#include "app/gui/views/failure/draw_failure.h"
#include "app/gui/views/flame_graph/draw_flame_graph.h"
#include "app/gui/views/fragmentation/draw_fragmentation.h"
#include "app/gui/views/heap_map/draw_heap_map.h"
#include "app/gui/views/import/draw_import.h"
#include "app/gui/views/inspector/draw_inspector.h"
#include "app/gui/views/jobs/draw_jobs.h"
#include "app/gui/views/range/draw_range.h"
#include "app/gui/views/sizes/draw_sizes.h"
#include "app/gui/views/source/draw_source.h"
#include "app/gui/views/summary/draw_summary.h"
#include "app/gui/views/tile_picture/draw_tile_picture.h"
#include "app/gui/views/timeline/draw_timeline.h"
#include "app/gui/views/top/draw_top.h"
#include "app/gui/views/totals/draw_totals.h"
#include "app/gui/views/tpu/draw_tpu.h"

namespace hbmscope::gui {

// Of the views that are drawn for each side.
struct SideStates {
  HeapMapState heap_map;
  TimelineState timeline;
  AddressTimeState address_time;
  FlameState flame;
};

struct ViewStates {
  std::set<SourceId> failures_shown;  // Sources whose Why it failed has come to the front, once.
  std::array<SideStates, 2> sides;
  SideFocus side_focus;
  FailureViewState failure;
  FragmentationState fragmentation;
  SizesState sizes;
  RangeViewState range;
  CompareState compare;
  BesideState beside;
  BlocksState blocks;
  EventsState events;
  SummaryState summary;
  TopState top;
  CallTreeState tree;
  DiffState diff;
  SourceViewState source;
  TotalsState totals;
  ImportState import;
  TpuViewState tpu;
  TilePictureState tiles;  // Alone in the window.
  InspectorState inspector;
  FilterLineState filter;
  PaletteState palette;
  JobsWindowState jobs;
  HelpState help;
  FileDialogState dialog;

  // The docks.
  std::uint64_t layout_seen = 0;  // The last Reset layout that was followed,
  bool layout_made = false;       // or the first layout.
  std::uint64_t view_seen = 0;    // The last command that brought a view to the front.
  std::optional<bool> of_trace;   // What the layout was made for.
  std::uint32_t views_there = 0;  // By kind: those that existed in the frame before.
  bool range_shown = false;       // The range's tab was brought to the front,
  bool beside_shown = false;      // and that of what differs side by side.
  int reorder = 0;                // Frames until tabs are put in order, since one that appears goes to the end.
  int settling = 0;               // Frames until focus is a person's doing again.
  std::optional<ViewKind> focused;
  std::uint64_t clipboard_seen = 0;
  std::array<std::uint32_t, 2> asked{};  // In the frame before.
};

}  // namespace hbmscope::gui
