// The inside of App: app.cpp (the loop), apply_commands.cpp and apply_to_trace.cpp (what a command does),
// open_sources.cpp (reading files), ask_questions.cpp and ask_about_trace.cpp (working out answers).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analysis/write/trace_table.h"
#include "app/gui/core/answer_cache.h"
#include "app/gui/core/app.h"
#include "app/gui/core/worker_pool.h"
#include "app/gui/sources/read_file.h"
#include "collector/view/command_lines.h"

namespace hbmscope::gui {

class App::Impl {
 public:
  Impl(std::function<void()> wake, bool leaves_no_trace);
  ~Impl();

  bool update();
  void save_settings();
  void list_jobs() { lists_jobs_ = true; }

  AppState state;
  CommandQueue commands;
  LiveOptions live_options;
  bool busy() const;

 private:
  // A question that is being worked out, or was answered last; one for each question of a context.
  struct Slot {
    QueryKey key;
    bool asked = false;
    std::shared_ptr<Work> work;
  };
  // While the moment moves by itself: since when, and along which stretch of the axis.
  struct Play {
    std::chrono::steady_clock::time_point since;
    TimelineSpan span;
    HeapKey heap;
    SourceId source = SourceId::none;
    MomentName at;  // As it was set last: where something else sets it, playing ends.
  };
  // What of a side another one follows.
  struct Followed {
    SourceId source = SourceId::none;
    HeapKey heap;
    MomentName at;

    // Another version of a running job is the same to whoever stands still.
    bool is_alike(const Followed& other) const { return heap == other.heap && at == other.at; }
    friend bool operator==(const Followed&, const Followed&) = default;
  };
  // What App keeps of a context beside what views see of it.
  struct Side {
    std::map<int, Slot> slots;
    SourceId answered_source = SourceId::none;
    SourceId unread_source =
        SourceId::none;       // It goes to its first moment once it is read, unless one is named before.
    std::string wanted_heap;  // By its name, until the source is read.
    MomentName viewed_at;     // The moment that the present view is of.
    TimelineSpan span_seen;   // The stretch that the timeline showed last,
    std::chrono::steady_clock::time_point span_seen_at;  // since then;
    bool waits_for_rest = false;                         // what is exact about it is asked when it rests.
    HeapKey free_history_heap;
    std::uint64_t free_history_events = 0;  // That the last one was asked about.
    const FlameAnswer* hued = nullptr;      // The last flame graph whose files were given hues.
    Play play;
  };
  enum ViewSlot {
    slot_view = 100,
    slot_baseline_view,
    slot_moment,
    slot_timeline_part,
    slot_live_blocks,
    slot_pinned,
    slot_baseline_moment,
    slot_settings
  };

  // What a computation gives: the answer and how much memory it holds, by estimate.
  template <class T>
  struct Computed {
    std::shared_ptr<const T> value;
    std::size_t bytes = 0;
  };
  template <class T>
  using Compute = std::function<Result<Computed<T>>(Work& work)>;

  // apply_commands.cpp
  void apply(const Command& command);
  bool apply_to_files(const Command& command);
  bool apply_to_position(const Command& command);
  bool apply_to_flame(const Command& command);
  bool apply_to_trace(const Command& command);
  bool apply_to_blocks(const Command& command);
  void select_in_heap(const HeapMapAnswer& answer, const HeapPiece& piece);
  void step_hit(bool forward);
  void go_to_largest_free();
  void go_to_address(std::uint64_t address);
  void step_moment(std::int64_t by);
  void pin(const MomentName& moment);
  void show_heap(HeapKey heap);
  bool show_heap_named(const std::string& name);  // False: there is none, and why is said.
  void step_event_here(bool forward);
  void go_to_failure(bool forward);

  // apply_to_demo.cpp
  bool apply_to_demo(const Command& command);
  void start_demo(std::vector<DemoSettings> settings);
  void end_demo();
  std::vector<DemoSettings> demo_settings() const;  // Of each run; of the first one where none runs.
  void tell_demos(const std::string& line);

  // apply_to_workload.cpp
  bool apply_to_workload(const Command& command);
  Source& source_of_this_side(Source& source);
  void want_changes(std::vector<WorkloadChange> changes);
  void start_emulating(Source& source);
  void stop_emulating();
  static void cancel_emulating(const Source& source);  // Whatever is on its way, if anything is.
  void finish_emulating(const std::shared_ptr<const Emulating>& run, const Result<ReadFile>& file);
  void take_emulation(Source& source, const ReadFile& file);

  // apply_to_jobs.cpp
  bool apply_to_jobs(const Command& command);
  void watch_jobs();
  void list_host(const std::string& host, bool is_copying);
  enum class Attaching { to_one, to_all, totals_only };  // All: with its command.
  void attach_to(std::int64_t process, Attaching how);
  std::optional<Error> attach_error(const std::string& name);

  // play.cpp, for the bound context.
  void toggle_play();
  bool advance_play(std::chrono::steady_clock::time_point now);  // True where the moment moved, or playing ended.

  bool apply_to_window(const Command& command);
  void apply_escape();
  void remember(const ViewPosition& before);
  void note_view(ViewKind kind);
  void go(std::vector<ViewPosition>& from, std::vector<ViewPosition>& to);
  void toggle_term(const std::string& term);
  void show_view(ViewKind kind);
  void step_view();
  void copy_text(std::string text, std::string notice);

  // open_sources.cpp
  enum class OpenAs { source, baseline, beside };
  void open_paths(const std::vector<std::string>& paths);
  void open_folder(const std::string& folder);
  SourceId open_file(const std::string& path, OpenAs as, const std::vector<WorkloadChange>& what_if = {});
  void enter_source(std::size_t context, SourceId id);
  void start_reading(SourceId id);
  WorkerPool::Finish read_to_end(const std::string& path, const std::vector<WorkloadChange>& what_if,
                                 const std::shared_ptr<ReadControl>& control);
  void show_part(const std::shared_ptr<ReadControl>& control, const ReadFile& part);
  void show_in_front(SourceId id, ViewKind kind);
  void show_wanted_heaps(const Source& source);
  void renew_id(Source& source);
  void finish_reading(const std::shared_ptr<ReadControl>& control, const std::function<void(Source&)>& fill);
  void close_source(SourceId id);
  void reload_source(SourceId id);
  void remember_recent(const Source& source);
  void keep_recent();
  void find_missing_recent();
  Source* find_source(SourceId id);
  Source* find_reading(const std::shared_ptr<ReadControl>& control);  // nullptr where nobody wants it any more.
  void start_export(const std::string& path);
  void start_trace_export(const std::string& path, TraceTable table);
  void write_text(const std::string& path, std::string text);
  void start_listing(const std::string& folder);

  // live_sources.cpp
  void start_live(const Source& source, const std::string& socket);
  WorkerPool::Finish end_live(const std::shared_ptr<ReadControl>& control, const std::string& name,
                              const LiveSource::Version& trace, const std::string& wrong);
  void close_live(const Source& source);
  void want_versions();
  void note_version(const ReadControl* control);
  bool toggle_hold();                         // False: what is in front is no running job.
  void ask_observer(link::RequestKind kind);  // Of the job in front.

  // side_by_side.cpp
  bool apply_to_sides(const Command& command);
  void split(SourceId beside);
  void close_side(std::size_t context);
  void swap_sides();
  void set_lock(std::optional<SameMoment> lock);
  void forget_followed();
  Followed followed_now(std::size_t context) const;
  bool follow_lock();  // True where a moment moved.

  // ask_questions.cpp
  bool ask_what_is_missing();
  bool ask_for_context();
  bool ask_views(Context& context);
  void ask_view(int kind, Answer<ProfileView> Answers::*member, const Source& of, const MomentName& at,
                const std::shared_ptr<const TraceMoment>& moment);
  void ask_baseline(const Source& source);
  void ask_moment(const Source& source);
  void ask_pinned(const Source& source);
  void ask_moment_at(int kind, Answer<TraceMoment> Answers::*member, const Source& source, const MomentName& at);
  // What lives at the moment that is shown, of a trace. Nothing while another moment is on its way: the answer is then
  // still that of the moment before, and must not be worked with under the new one's name.
  std::shared_ptr<const TraceMoment> ready_moment() const;
  std::shared_ptr<const TraceMoment> ready_moment_of(std::size_t context) const;
  std::shared_ptr<const TraceMoment> ready_pinned() const;  // Likewise.
  void ask_heap_map();
  void ask_compare();
  void ask_beside();
  void ask_about_blocks();
  BlockQuery block_query() const;
  void ask_live_blocks();
  void ask_blocks();
  void ask_address();
  void ask_events();
  void forget_blocks();
  void ask_timeline();
  TimelineEffort effort_of_span(const Stream& stream);
  void ask_address_time();
  void ask_range();
  void ask_free();
  void ask_free_history();
  void ask_failure();
  void ask_sizes();
  template <class T>
  void ask(int kind, Answer<T> Answers::*member, QueryKey key, Compute<T> compute);
  template <class T>
  void forget(int kind, Answer<T> Answers::*member);
  void forget_answers();
  void ask_summary(const QueryKey& base);
  void ask_top(const QueryKey& base);
  void ask_flame(const QueryKey& base);
  void ask_search(const QueryKey& base);
  void ask_tree(const QueryKey& base);
  void ask_detail(const QueryKey& base);
  void ask_diff(const QueryKey& base);
  void ask_settings();
  void ask_listing(const QueryKey& base);
  void ask_series(const QueryKey& base);
  void look_up_selection();
  void give_hues();

  bool asks(Question question) const { return commands.asks(question, state.context_index()); }
  Side& side() { return sides_[state.context_index()]; }
  const Side& side() const { return sides_[state.context_index()]; }
  Slot& slot(int kind) { return side().slots[kind]; }

  std::vector<Side> sides_ = std::vector<Side>(1);   // By context.
  std::shared_ptr<Work> follow_work_;                // Where the other side's moment is looked for.
  std::optional<std::array<Followed, 2>> followed_;  // By context: the moments of both after that was done last.
  bool lists_jobs_ = false;                          // On the first page too.
  const bool leaves_no_trace_;
  AnswerCache cache_;
  std::uint32_t next_source_ = 1;
  bool recent_changed_ = false, recent_being_written_ = false;
  WorkerPool pool_;  // After all that its threads could touch.
  struct Live {
    std::unique_ptr<LiveSource> source;
    std::chrono::steady_clock::time_point shown_at;
    bool is_shown = true;  // The version that came last; else one is on its way.
  };
  std::map<const ReadControl*, Live> live_;                   // Their threads post to the pool.
  std::vector<std::unique_ptr<view::StartedCommand>> demos_;  // By run.
  struct Said {
    std::mutex mutex;
    std::string text;
  };
  // A job that the window has attached to; kept to the end, which is a detach.
  struct Attached {
    std::string name;  // Of its source.
    std::unique_ptr<view::CommandLines> command;
    std::shared_ptr<Said> said;
  };
  std::vector<Attached> attached_;
  std::unique_ptr<view::CommandLines> job_list_;
};

}  // namespace hbmscope::gui
