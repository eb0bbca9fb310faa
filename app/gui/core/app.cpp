#include "app/gui/core/app.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

#include "app/gui/core/answering.h"
#include "app/gui/core/apply_commands.h"
#include "app/gui/core/attached_jobs.h"
#include "app/gui/core/code_places.h"
#include "app/gui/core/demo_runs.h"
#include "app/gui/core/editor.h"
#include "app/gui/core/emulation.h"
#include "app/gui/core/json_file.h"
#include "app/gui/core/kept_bookmarks.h"
#include "app/gui/core/kept_file.h"
#include "app/gui/core/looking.h"
#include "app/gui/core/open_sources.h"
#include "app/gui/core/playing.h"
#include "app/gui/core/questions.h"
#include "app/gui/core/recent_files.h"
#include "app/gui/core/side_by_side.h"
#include "app/gui/sources/sample.h"

namespace hbmscope::gui {
namespace {

unsigned worker_count() {
#ifdef __EMSCRIPTEN__
  return 0;  // The page has one thread.
#else
  return std::clamp(std::thread::hardware_concurrency(), 2u, 8u);
#endif
}

}  // namespace

// Each part has one task and uses only parts above it in this list, and the pool.
struct App::Parts {
  Parts(std::function<void()> wake, bool leaves_no_trace);
  ~Parts();

  void apply(const Command& command);
  bool busy() const;
  bool update();
  void keep_settings();

  AppState state;
  CommandQueue commands;
  Answering asking{state, commands, pool};
  SideBySide sides{state, asking, pool};
  RecentFiles recent;
  KeptFile filters, hues, settings, layout;
  Settings kept_settings;
  std::string layout_text;
  OpenSources sources{state, asking, sides, recent, pool};
  Emulation emulation{state, asking, sides, sources, pool};
  AttachedJobs jobs{state, sources, pool};
  DemoRuns demo{state, sides, sources};
  KeptBookmarks bookmarks;
  AppParts for_commands{state, pool, asking, sides, recent, filters, sources, emulation, jobs, demo, bookmarks};
  WorkerPool pool;  // Last, since its threads may use any of the others.
};

App::Parts::Parts(std::function<void()> wake, bool leaves_no_trace)
    : recent(state, pool, leaves_no_trace),
      filters(pool, leaves_no_trace),
      hues(pool, leaves_no_trace),
      settings(pool, leaves_no_trace),
      layout(pool, leaves_no_trace),
      bookmarks(state, sides, pool, leaves_no_trace),
      pool(worker_count(), std::move(wake)) {
  state.settings = kept_settings = read_settings(config_folder() / "settings.json");
  state.editor = editor_of_user(state.settings.editor);
  state.recent = read_recent(state_folder() / "recent.json");
  state.filters = read_filters(state_folder() / "filters.json");
  // A picture must not depend on what its user looked at before.
  if (!leaves_no_trace) state.hues = HueMemory(KnownHues(read_hues(state_folder() / "hues.json")));
  state.sample = find_sample();
  state.failing_sample = find_failing_sample();
  sources.why_nothing_came = [this](const std::string& name) { return jobs.attach_error(name); };
  recent.find_missing();
}

// Parts with their own threads or programs must end before the pool that they post to.
App::Parts::~Parts() {
  for (const Source& source : state.sources) {
    if (source.control) source.control->cancelled = true;
    cancel_emulating(source);
  }
  asking.cancel_all();
  sides.cancel();
  jobs.stop();
  demo.end_demo();
  sources.close_all_links();
}

bool App::Parts::busy() const {
  if (pool.busy() || !commands.empty()) return true;
  return std::any_of(state.contexts.begin(), state.contexts.end(),
                     [](const Context& context) { return context.notes.visible.waits_for_rest || context.is_playing; });
}

bool App::Parts::update() {
  bool changed = false;
  // First, because they are about what was drawn: a file that has been read meanwhile has other views.
  for (const Command& command : commands.take_commands()) {
    apply(command);
    changed = true;
  }
  changed = pool.run_finished() || changed;
  jobs.watch();
  sources.want_versions();
  sources.look_at_logs();
  for (std::size_t i = 0; i < state.contexts.size(); ++i) {
    const ContextScope scope(state, i);
    changed = advance_play(state, std::chrono::steady_clock::now()) || changed;
    changed = follow_end(state) || changed;
    changed = keep_moment_in_sight(state) || changed;
  }
  bookmarks.read_for_new_files();
  bookmarks.keep();
  recent.keep();
  keep_settings();
  filters.keep([this] { return [kept = state.filters] { write_filters(state_folder() / "filters.json", kept); }; });
  changed = ask_what_is_missing(asking) || changed;
  if (state.hues.known().take_change()) hues.note_change();
  hues.keep([this] { return [kept = state.hues.known().names()] { write_hues(state_folder() / "hues.json", kept); }; });
  // The active side's time has been requested by now, if it changed.
  if (!sides.follow_lock()) return changed;
  ask_what_is_missing(asking);
  return true;
}

// At once, so that a window that is killed loses nothing.
void App::Parts::keep_settings() {
  if (state.settings != kept_settings) settings.note_change();
  kept_settings = state.settings;
  settings.keep([this] { return [kept = kept_settings] { write_settings(config_folder() / "settings.json", kept); }; });
  layout.keep([this] { return [kept = layout_text] { write_whole(state_folder() / "layout.ini", kept); }; });
}

void App::Parts::apply(const Command& command) {
  const CommandInfo& info = info_of(command.id);
  // A side whose view was used becomes the active one.
  const bool is_of_side = command.context != Command::active;
  if (is_of_side && command.context >= state.contexts.size()) return;  // It was closed in the meantime.
  const ContextScope scope(state, is_of_side ? command.context : state.active_context);
  if (is_of_side && !info.is_report) state.active_context = command.context;
  if (const std::string_view reason = why_not(state, command.id); !reason.empty()) {
    state.window.notice = reason;
    return;
  }
  if (!info.is_report) state.window.notice.clear();
  const ViewPosition before = state.position();
  info.apply(for_commands, command);
  if (info.is_report) return;
  ViewPosition& position = state.context().position;
  // Whatever selects one thing selects no others.
  if (position.address != before.address && position.also == before.also) position.also.clear();
  if (info.is_step && position != before) remember(state, before);
}

App::App(std::function<void()> wake, bool leaves_no_trace, Host host)
    : leaves_no_trace_(leaves_no_trace), parts_(std::make_unique<Parts>(std::move(wake), leaves_no_trace)) {
  parts_->state.host = host;
}
App::~App() = default;

const AppState& App::state() const {
  return parts_->state;
}
CommandQueue& App::commands() {
  return parts_->commands;
}
bool App::update() {
  return parts_->update();
}
bool App::busy() const {
  return parts_->busy();
}
void App::set_live_options(const LiveOptions& options) {
  parts_->sources.live_options = options;
}
void App::set_about(std::string text) {
  parts_->state.about = std::move(text);
}
void App::list_jobs() {
  parts_->jobs.lists_on_first_page = true;
}
bool App::follows_files() const {
  return parts_->sources.follows_logs();
}
void App::keep_layout(std::string text) {
  parts_->layout_text = std::move(text);
  parts_->layout.note_change();
}
void App::save_settings() {
  if (leaves_no_trace_) return;
  write_settings(config_folder() / "settings.json", state().settings);
  // A worker may be writing the same lists or older ones at the same time.
  write_recent(state_folder() / "recent.json", state().recent);
  write_filters(state_folder() / "filters.json", state().filters);
  write_hues(state_folder() / "hues.json", state().hues.known().names());
  if (!parts_->layout_text.empty()) write_whole(state_folder() / "layout.ini", parts_->layout_text);
  parts_->bookmarks.write_now();
}

}  // namespace hbmscope::gui
