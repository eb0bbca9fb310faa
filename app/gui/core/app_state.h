// All that the window knows. Views get it const, draw it, and push commands; App alone changes it, between two frames.
//
// A context is one thing looked at: a source, what of it counts (the filter), what is selected, and the answers to the
// questions that its views ask. There is one, or there are two side by side (two runs, two ranks, two moments of one)
// that share their sources. Every view is drawn for one context, and so is everything that App does: the one that a
// ContextScope has bound, else the active one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/query/block_diff.h"
#include "analysis/query/call_tree.h"
#include "analysis/query/diff.h"
#include "analysis/query/failure_facts.h"
#include "analysis/query/flame.h"
#include "analysis/query/free_pieces.h"
#include "analysis/query/heap_metrics.h"
#include "analysis/query/heaps_beside.h"
#include "analysis/query/job_facts.h"
#include "analysis/query/moment_beside.h"
#include "analysis/query/own_code.h"
#include "analysis/query/profile_view.h"
#include "analysis/query/range_summary.h"
#include "analysis/query/summary.h"
#include "analysis/query/top.h"
#include "app/gui/core/address_time.h"
#include "app/gui/core/answer.h"
#include "app/gui/core/block_answers.h"
#include "app/gui/core/color_keeper.h"
#include "app/gui/core/event_table.h"
#include "app/gui/core/frame_detail.h"
#include "app/gui/core/frame_key.h"
#include "app/gui/core/heap_pieces.h"
#include "app/gui/core/palette.h"
#include "app/gui/core/settings.h"
#include "app/gui/core/source_listing.h"
#include "app/gui/core/timeline_columns.h"
#include "app/gui/core/view_kind.h"
#include "app/gui/sources/demo.h"
#include "app/gui/sources/folder_listing.h"
#include "app/gui/sources/jobs.h"
#include "app/gui/sources/moment_name.h"
#include "app/gui/sources/source.h"
#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {

// At which moment the baseline of a comparison is shown: at the same one where it has a name (peak, end, oom, start),
// else at its peak, since an event number of one run says nothing about another.
MomentName baseline_moment_for(const MomentName& at);

// What is left of a request when the filters are cleared: which frames there are, and which values count.
ViewRequest without_filters(const ViewRequest& request);

// What Alt+Left brings back: everything about a context that a person changes by looking around.
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

// Rows and trees name frames by number, so each carries the view that the numbers belong to.
struct TopAnswer {
  std::shared_ptr<const ProfileView> view;
  std::vector<TopRow> rows;
};
struct SummaryAnswer {
  ProfileSummary summary;
  std::vector<OwnCodeRow> own_code;  // Whose memory it is, largest first.
};
struct TreeAnswer {
  std::shared_ptr<const ProfileView> view;
  CallTree tree;
  bool folded = false;
};
struct FlameAnswer {
  std::shared_ptr<const ProfileView> view;
  CallTree tree;
  FlameLayout layout;
};
struct SearchAnswer {
  std::shared_ptr<const FlameAnswer> flame;  // Whose nodes `search.hit` counts.
  std::string text;
  FlameSearch search;
};

struct HeapMapAnswer {
  std::shared_ptr<const TraceMoment> moment;  // Whose states `pieces` are of.
  std::shared_ptr<const TraceMoment> pinned;  // Of the change: since when.
  HeapKey heap;
  HeapPieces pieces;
};

struct RangeAnswer {
  TimeRange range;  // As it was asked for.
  std::shared_ptr<const Trace> trace;
  Moment from, to;
  std::vector<std::int64_t> from_ns, to_ns;  // By stream: the time of the last event before.
  RangeSummary summary;
};

// What is free at the moment.
struct FreeAnswer {
  std::shared_ptr<const TraceMoment> moment;
  HeapKey heap;
  std::optional<FreePieces> free;  // Nothing where the heap's regions are not told.
};
struct FailureAnswer {
  std::shared_ptr<const Trace> trace;
  HeapKey heap;
  FailureFacts facts;
  std::optional<FreePieces> free;  // Just before it.
  std::size_t number = 0, of = 0;  // From 1, among the out-of-memories of the heap.
};
// What changed between two moments of one trace: now - pinned.
struct CompareAnswer {
  std::shared_ptr<const TraceMoment> now, pinned;
  BlockDiff diff;
};
// Both sides, each at its moment.
struct BesideAnswer {
  std::shared_ptr<const TraceMoment> a, b;
  HeapsBeside heaps;
  std::vector<SettingChange> settings;  // That differ between the jobs: baseline is A, now is B.
};
struct SizesAnswer {
  std::shared_ptr<const TraceMoment> moment;
  HeapKey heap;
  HeapMetrics metrics;
};

struct Answers {
  Answer<TraceMoment> moment;  // Of a trace.
  Answer<TraceMoment> pinned;
  Answer<CompareAnswer> compare;  // Of the moment with the pinned one.
  Answer<BesideAnswer> beside;
  Answer<HeapMapAnswer> heap_map;
  Answer<LiveAnswer> live_blocks;
  Answer<BlocksAnswer> blocks;
  Answer<EventsAnswer> events;                      // Around the moment.
  Answer<AddressAnswer> address;                    // Of the selected block or gap.
  Answer<TimelineColumns> timeline, timeline_part;  // Of the whole trace; of what the timeline shows of it, exact.
  Answer<AddressTime> address_time;                 // Of what the timeline shows.
  Answer<RangeAnswer> range;                        // Of the time that is selected.
  Answer<FreeAnswer> free;
  Answer<FreeHistory> free_history;  // Of the whole stream.
  Answer<FailureAnswer> failure;     // The one at the moment, or the last one before it; else the first one.
  Answer<SizesAnswer> sizes;
  Answer<ProfileView> view, baseline_view;
  Answer<SummaryAnswer> summary;
  Answer<TopAnswer> top;
  Answer<FlameAnswer> flame;
  Answer<SearchAnswer> search;
  Answer<TreeAnswer> tree;
  Answer<FrameDetail> detail;
  Answer<ProfileDiff> diff;
  Answer<TraceMoment> baseline_moment;          // Of two traces.
  Answer<std::vector<SettingChange>> settings;  // Likewise: those that differ.
  Answer<SourceListing> listing;
  Answer<std::vector<SeriesPoint>> series;  // Of all sources that are there.
};

struct Context {
  ViewPosition position;
  std::vector<ViewPosition> back, forward;
  Answers answers;

  // The selection as a number, looked up once a change: only frames of `selected_of` may be compared with it.
  FrameIndex selected = FrameIndex::none;
  const ProfileView* selected_of = nullptr;
  FrameKey looked_up;

  bool is_playing = false;  // The moment moves on by itself.
  double play_speed = 1;    // Seconds of the trace in a second; of a file without times: events.
  int address_time_width = 0, address_time_height = 0;  // In pixels. 0: not drawn yet.
  std::size_t timeline_width = 0;  // In pixels, each of which is a column of Answers::timeline_part. 0: not drawn yet.
};

// What of the window itself commands change. A serial grows by one with each request, so that a view can tell that it
// has seen the last one.
struct WindowState {
  bool palette_open = false, help_open = false, quit = false;
  bool maximised = false;  // Only the active view is shown (F11).
  enum class Dialog { none, open_file, open_folder, open_baseline, export_file } dialog = Dialog::none;
  std::string export_format;  // For Dialog::export_file: "svg", "html", "png", "figures.csv", "blocks.csv", ...
  std::uint64_t picture_serial = 0;
  std::string picture_file;  // Where the picture of the view in front goes.
  std::string figures_file;  // Not empty: what the view in front would copy goes there, as CSV.
  std::uint64_t layout_serial = 0, view_serial = 0, find_serial = 0, filter_serial = 0, zoom_serial = 0;
  std::uint64_t find_step_serial = 0;
  std::uint64_t find_blocks_serial = 0, fit_selection_serial = 0;
  int find_step = 1;  // F3: 1, Shift+F3: -1.
  std::uint64_t copy_serial = 0;
  bool copy_as_text = false;  // Aligned columns for people instead of tabs for spreadsheets.
  std::uint64_t clipboard_serial = 0;
  std::string clipboard;  // What the last copy put there.
  std::string tiles;      // Not empty: all of the window is the picture of this layout's tiles.
  std::string notice;     // "Copied 214 rows.", shown in the status line until the next command.
};

// "A" on the left, "B" on the right.
constexpr std::string_view side_name(std::size_t context) {
  return context == 0 ? "A" : "B";
}

struct AppState;
// Whether the file in front, and what is selected, have something to show in it.
bool view_exists(const AppState& state, ViewKind kind);

struct AppState {
  std::vector<Source> sources;                              // In the order of opening.
  std::vector<Context> contexts = std::vector<Context>(1);  // One, or two side by side.
  std::size_t active_context = 0;  // That of Sources, Inspector, the filter and the views that are not side by side.
  std::optional<SameMoment> lock;  // How the moment of one side follows that of the other; nothing: it does not.
  WindowState window;
  Settings settings;
  std::vector<RecentFile> recent;
  std::optional<DemoState> demo;
  JobsState jobs;
  Answer<FolderListing> folder;  // Of the file dialog.
  std::string sample;            // A profile that comes with the program; empty where it isn't found.
  ColorKeeper colors;            // Of files.
  ColorKeeper line_colors;       // Of lines of code, in heap maps.

  std::size_t context_index() const { return bound_ < contexts.size() ? bound_ : active_context; }
  const Context& context() const { return contexts[context_index()]; }
  Context& context() { return contexts[context_index()]; }
  bool is_split() const { return contexts.size() > 1; }
  bool is_active_side() const { return context_index() == active_context; }
  // This view of this side is what a key or a menu means.
  bool is_in_front(ViewKind kind) const { return is_active_side() && position().view == kind; }
  const ViewPosition& position() const { return context().position; }
  const Answers& answers() const { return context().answers; }

  const Source* find_source(SourceId id) const;  // nullptr where it was closed.
  const Source* source() const { return find_source(position().source); }
  const Source* baseline() const { return find_source(position().baseline); }
  std::size_t ready_sources() const;

  // The selected frame by its number in `view`; none where nothing is selected, the filter left it out, or `view` is
  // not the present one any more.
  FrameIndex selected_frame(const std::shared_ptr<const ProfileView>& view) const;

 private:
  friend class ContextScope;
  static constexpr std::size_t unbound = ~std::size_t{0};
  mutable std::size_t bound_ = unbound;
};

// While it lives, the state is seen from one of its contexts. On the thread of the window only.
class ContextScope {
 public:
  ContextScope(const AppState& state, std::size_t context) : state_(state), before_(state.bound_) {
    state_.bound_ = context;
  }
  ~ContextScope() { state_.bound_ = before_; }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const AppState& state_;
  std::size_t before_;
};

}  // namespace hbmscope::gui
