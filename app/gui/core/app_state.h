// All state of the window. Views get it const, draw it and push commands; only App changes it, between two frames.
//
// A context is what one side shows: a source, the filter, the selection, and the answers to the questions of its views.
// There is one context, or two side by side (two runs, two ranks, two times of one trace) that share the sources. Every
// view is drawn for one context, and App works on one context at a time: the one bound by a ContextScope, otherwise the
// active one.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/query/moment_comparison.h"
#include "app/gui/core/answer.h"
#include "app/gui/core/bookmarks.h"
#include "app/gui/core/code_places.h"
#include "app/gui/core/color_keeper.h"
#include "app/gui/core/host.h"
#include "app/gui/core/settings.h"
#include "app/gui/core/trace_colors.h"
#include "app/gui/core/view_position.h"
#include "app/gui/core/view_row.h"
#include "app/gui/core/window_state.h"
#include "app/gui/sources/demo.h"
#include "app/gui/sources/folder_listing.h"
#include "app/gui/sources/jobs.h"
#include "app/gui/sources/source.h"

namespace hbmscope::gui {

// What App remembers about a context between frames; views don't use it.
struct ContextNotes {
  SourceId answered_source = SourceId::none;  // The source of the current answers.
  // Once this source is read, it is shown at its first time, unless the user selected another time before.
  SourceId unread_source = SourceId::none;
  // Nobody asked for a view of it: once it is read, it is shown with the tabs that its kind opens with.
  bool chooses_view = false;
  std::optional<ViewKind> view_before_reload;  // A file that is read again shows what was in front.
  std::string wanted_heap;                     // Name of the heap to show once the source is read.
  // The selected address, if the time of its release is to be shown once it is known.
  std::optional<std::uint64_t> wanted_release;
  // What Answers::view was computed for. The source may be an earlier version of the shown one.
  struct Viewed {
    MomentName at;
    SourceId source = SourceId::none;
  } viewed;
  struct VisibleSpan {  // In the timeline.
    TimelineSpan span;
    std::chrono::steady_clock::time_point changed_at;
    bool waits_for_rest = false;  // The exact answer is computed once the span rests.
  } visible;
  // Number of events of the stream when an answer was computed. For a running job it is renewed only once there are
  // many more.
  struct AnsweredEvents {
    std::uint64_t free_history = 0, pool_costs = 0, what_if = 0, headline = 0;
  } answered_events;
  HeapKey free_history_heap;
  const FlameAnswer* hued = nullptr;          // The last flame graph whose files got hues.
  std::uint64_t ranked_bytes = 0;             // Sum of the heaps' peaks when Answers::color_ranks was computed.
  std::shared_ptr<const ColorRanks> colored;  // What Context::colors was made from.
  // For a running job: how much of its end the timeline shows while it follows the job. Nothing: the last minute. 0:
  // all.
  std::optional<std::int64_t> followed_length;
  bool follows_end = true;  // False: the user chose a span that does not reach the end.
  // What was last shown; if only the time has changed since, the timeline moves to have it in view.
  struct Sight {
    MomentName at;
    HeapKey heap;
    TimelineSpan span;
    friend bool operator==(const Sight&, const Sight&) = default;
  };
  std::optional<Sight> sight;
  // While the trace plays: the start of playing and the span of the axis that it plays.
  struct Play {
    std::chrono::steady_clock::time_point since;
    TimelineSpan span;
    HeapKey heap;
    SourceId source = SourceId::none;
    MomentName at;  // The last time set by playing; if it changes otherwise, playing stops.
  } play;
};

struct Context {
  ViewPosition position;
  std::vector<ViewPosition> back, forward;
  Answers answers;

  // The selection as a frame number, looked up once per change. It is valid only in the view `selected_of`.
  FrameIndex selected = FrameIndex::none;
  const ProfileView* selected_of = nullptr;
  FrameKey looked_up;

  std::shared_ptr<const TraceColors> colors;  // For the trace; null until they are known.

  bool is_playing = false;  // The selected time advances by itself.
  double play_speed = 1;    // Seconds of the trace per second; events per second in a file without times.
  int address_time_width = 0, address_time_height = 0;  // In px. 0 if not drawn yet.
  std::size_t timeline_width = 0;   // In px, one column of Answers::timeline_part per pixel. 0 if not drawn yet.
  std::size_t timeline_height = 0;  // In px: of all that is in use at the peak, at the scale of the y axis.

  ContextNotes notes;
};

// "A" on the left, "B" on the right.
constexpr std::string_view side_name(std::size_t context) {
  return context == 0 ? "A" : "B";
}

struct AppState {
  std::vector<Source> sources;                              // In the order in which they were opened.
  std::vector<Context> contexts = std::vector<Context>(1);  // One, or two side by side.
  std::size_t active_context = 0;  // Used by Sources, Inspector, the filter and all views that are not side by side.
  std::optional<SameMoment> lock;  // How the time of one side follows the other. Nothing if it does not follow.
  Host host = Host::desktop;
  WindowState window;
  Settings settings;
  std::vector<RecentFile> recent;
  std::vector<std::string> filters;                        // Earlier filters of this user, the newest first.
  std::map<std::string, std::vector<Bookmark>> bookmarks;  // By bookmark_key(), in the order in which they were set.
  std::optional<DemoState> demo;
  JobsState jobs;
  Answer<FolderListing> folder;  // For the file dialog.
  std::string wanted_folder;     // The last that was asked for; the answer is about it.
  std::string failing_sample;    // Path of a recording with a failure that comes with the program; may be empty.
  std::string sample;            // Path of the sample that comes with the program; empty if it isn't found.
  std::string about;             // The version and what the program can do here, in lines.
  std::string graphics;          // The operating system and the driver that draws. Empty if unknown.
  std::string editor;            // The command of choose_editor(). Empty if none is known.
  CodePlaces code_places;
  ColorKeeper colors;  // Hues of source files.
  HueMemory hues;      // For lines of code, tags and streams.

  std::size_t context_index() const { return bound_ < contexts.size() ? bound_ : active_context; }
  const Context& context() const { return contexts[context_index()]; }
  Context& context() { return contexts[context_index()]; }
  bool is_split() const { return contexts.size() > 1; }
  bool is_active_side() const { return context_index() == active_context; }
  // True if keys and menu commands apply to this view of this side.
  bool is_in_front(ViewKind kind) const { return is_active_side() && position().view == kind; }
  const ViewPosition& position() const { return context().position; }
  const Answers& answers() const { return context().answers; }

  const Source* find_source(SourceId id) const;  // nullptr if it was closed.
  Source* find_source(SourceId id);
  const Source* source() const { return find_source(position().source); }
  const Source* baseline() const { return find_source(position().baseline); }
  std::size_t ready_sources() const;

  // The selected frame's number in `view`. None if nothing is selected, if the filter excludes the frame, or if `view`
  // is outdated.
  FrameIndex selected_frame(const std::shared_ptr<const ProfileView>& view) const;

 private:
  friend class ContextScope;
  static constexpr std::size_t unbound = ~std::size_t{0};
  mutable std::size_t bound_ = unbound;
};

// The live blocks at the selected time of a trace. Null while they are being computed: the answer then still belongs to
// the previous time and must not be shown as the current one.
std::shared_ptr<const TraceMoment> ready_moment(const AppState& state);
// The time that all pictures and figures of a frame show: that of the heap map while its next one is computed. Null if
// none is known.
std::shared_ptr<const TraceMoment> drawn_moment(const AppState& state);
std::shared_ptr<const TraceMoment> ready_pinned(const AppState& state);  // The same for the pinned time.
std::shared_ptr<const TraceMoment> ready_moment_of(const AppState& state, std::size_t context);

// The coloring of the bound context's pictures, never `automatic`: if both sides are automatic and would choose
// differently, both use sizes. Nothing while the colours of a side are unknown.
std::optional<HeapColoring> shown_coloring(const AppState& state);

// How a side's heap map is laid out, never `automatic`; both sides alike, if they can be.
MapLayout map_layout_of(const AppState& state, std::size_t context);

// The bands of the heap in the span: exact if they were computed for the span alone, else of the whole trace. Null
// until they are known.
std::shared_ptr<const StackCourse> shown_stack(const AppState& state, HeapKey heap, TimelineSpan seen);

// What tables and graphs of a trace are about: the heaps of the shown heap's device, or of its memory if a device has
// several (HBM, VMEM). Empty means everything, because there is only one, or because the user chose all of them.
std::vector<HeapKey> heaps_in_scope(const AppState& state);
// "device 1", "all 8 devices"; empty if there is only one.
std::string name_of_scope(const AppState& state);
std::string in_scope(const AppState& state);  // " on device 1", or empty.

// The blocks that pictures bring out: those of the selected frame, else those that pass the filter, at the selected
// time. Null if neither is set, or they are not known yet.
std::shared_ptr<const BlocksAnswer> highlighted_blocks(const AppState& state);

// Binds one of the contexts for the lifetime of this object. Use it on the window's thread only.
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
