// All that the window knows. Views get it const, draw it, and push commands; App alone changes it, between two frames.
//
// A context is one thing looked at: a source, what of it counts (the filter), what is selected, and the answers to the
// questions that its views ask. There is one, or there are two side by side (two runs, two ranks, two moments of one)
// that share their sources. Every view is drawn for one context, and App works for one context at a time: the one that
// a ContextScope has bound, else the active one.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/query/moment_comparison.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/color_keeper.h"
#include "app/gui/core/settings.h"
#include "app/gui/core/view_position.h"
#include "app/gui/core/view_row.h"
#include "app/gui/core/window_state.h"
#include "app/gui/sources/demo.h"
#include "app/gui/sources/folder_listing.h"
#include "app/gui/sources/jobs.h"
#include "app/gui/sources/source.h"

namespace hbmscope::gui {

// What App remembers of a context from one frame to the next; views have no use for it.
struct ContextNotes {
  SourceId answered_source = SourceId::none;  // What the answers are about.
  // This source is shown at its first moment once it is read, unless another moment is chosen before.
  SourceId unread_source = SourceId::none;
  std::string wanted_heap;                             // By its name, until the source is read.
  MomentName viewed_at;                                // The moment of Answers::view.
  TimelineSpan span_seen;                              // What the timeline showed last,
  std::chrono::steady_clock::time_point span_seen_at;  // since then;
  bool waits_for_rest = false;                         // the exact answer about it is computed when it rests.
  HeapKey free_history_heap;
  std::uint64_t free_history_events = 0;  // How many the stream had when Answers::free_history was computed.
  const FlameAnswer* hued = nullptr;      // The last flame graph whose files were given hues.
  // While the trace plays: since when, and along which span of the axis.
  struct Play {
    std::chrono::steady_clock::time_point since;
    TimelineSpan span;
    HeapKey heap;
    SourceId source = SourceId::none;
    MomentName at;  // As it was set last: playing ends where something else sets it.
  } play;
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

  ContextNotes notes;
};

// "A" on the left, "B" on the right.
constexpr std::string_view side_name(std::size_t context) {
  return context == 0 ? "A" : "B";
}

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
  Source* find_source(SourceId id);
  const Source* source() const { return find_source(position().source); }
  const Source* baseline() const { return find_source(position().baseline); }
  std::size_t ready_sources() const;

  // The selected frame by its number in `view`; none where nothing is selected, the filter left it out, or `view` is no
  // longer the current one.
  FrameIndex selected_frame(const std::shared_ptr<const ProfileView>& view) const;

 private:
  friend class ContextScope;
  static constexpr std::size_t unbound = ~std::size_t{0};
  mutable std::size_t bound_ = unbound;
};

// What lives at the moment that is shown, of a trace. Null while another moment is being computed: the answer is then
// still that of the moment before, and must not be used under the new one's name.
std::shared_ptr<const TraceMoment> ready_moment(const AppState& state);
std::shared_ptr<const TraceMoment> ready_pinned(const AppState& state);  // Likewise.
std::shared_ptr<const TraceMoment> ready_moment_of(const AppState& state, std::size_t context);

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
