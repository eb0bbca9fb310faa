// What every view keeps for itself, in one place that lives as long as the window.
#pragma once

#include <array>
#include <set>

#include "app/gui/views/address_time_view.h"
#include "app/gui/views/beside_view.h"
#include "app/gui/views/blocks_view.h"
#include "app/gui/views/call_tree_view.h"
#include "app/gui/views/compare_view.h"
#include "app/gui/views/diff_view.h"
#include "app/gui/views/events_view.h"
#include "app/gui/views/failure_view.h"
#include "app/gui/views/file_dialog.h"
#include "app/gui/views/filter_line.h"
#include "app/gui/views/flame_graph.h"
#include "app/gui/views/fragmentation_view.h"
#include "app/gui/views/heap_map.h"
#include "app/gui/views/help_window.h"
#include "app/gui/views/import_view.h"
#include "app/gui/views/inspector.h"
#include "app/gui/views/jobs_view.h"
#include "app/gui/views/palette_window.h"
#include "app/gui/views/range_view.h"
#include "app/gui/views/shell.h"
#include "app/gui/views/side_by_side.h"
#include "app/gui/views/sizes_view.h"
#include "app/gui/views/source_view.h"
#include "app/gui/views/summary_view.h"
#include "app/gui/views/tile_picture_view.h"
#include "app/gui/views/timeline.h"
#include "app/gui/views/top_table.h"
#include "app/gui/views/totals_view.h"
#include "app/gui/views/tpu_view.h"

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
