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

bool is_size(CommandId id) {
  return id == CommandId::size_timeline || id == CommandId::size_address_time;
}

// A whole drag is one step of Back; zooming is not a step.
bool is_step(CommandId id) {
  return !is_size(id) && id != CommandId::move_moment && id != CommandId::move_range && id != CommandId::show_span &&
         id != CommandId::show_addresses;
}

}  // namespace

// Each part has one task and uses only parts above it in this list.
struct App::Parts {
  Parts(std::function<void()> wake, bool leaves_no_trace);
  ~Parts();

  void apply(const Command& command);
  void apply_in_context(const Command& command);
  void remember_filter(const std::string& filter);
  bool busy() const;
  bool update();

  AppState state;
  CommandQueue commands;
  Answering asking{state, commands, pool};
  SideBySide sides{state, asking, pool};
  RecentFiles recent;
  KeptFile filters, hues;
  OpenSources sources{state, asking, sides, recent, pool};
  Emulation emulation{state, asking, sides, sources, pool};
  AttachedJobs jobs{state, sources, pool};
  DemoRuns demo{state, sides, sources};
  KeptBookmarks bookmarks;
  WorkerPool pool;  // Last, since its threads may use any of the others.
};

App::Parts::Parts(std::function<void()> wake, bool leaves_no_trace)
    : recent(state, pool, leaves_no_trace),
      filters(pool, leaves_no_trace),
      hues(pool, leaves_no_trace),
      bookmarks(state, sides, pool, leaves_no_trace),
      pool(worker_count(), std::move(wake)) {
  state.settings = read_settings(config_folder() / "settings.json");
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string_view(value != nullptr ? value : "");
  };
  state.editor = choose_editor(state.settings.editor, variable("VISUAL"), variable("EDITOR"));
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
                     [](const Context& context) { return context.notes.waits_for_rest || context.is_playing; });
}

bool App::Parts::update() {
  bool changed = pool.run_finished();
  for (const Command& command : commands.take_commands()) {
    apply(command);
    changed = true;
  }
  jobs.watch();
  sources.want_versions();
  for (std::size_t i = 0; i < state.contexts.size(); ++i) {
    const ContextScope scope(state, i);
    changed = advance_play(state, std::chrono::steady_clock::now()) || changed;
    changed = follow_end(state) || changed;
  }
  bookmarks.read_for_new_files();
  bookmarks.keep();
  recent.keep();
  filters.keep([this] { return [kept = state.filters] { write_filters(state_folder() / "filters.json", kept); }; });
  changed = ask_what_is_missing(asking) || changed;
  if (state.hues.known().take_change()) hues.note_change();
  hues.keep([this] { return [kept = state.hues.known().names()] { write_hues(state_folder() / "hues.json", kept); }; });
  // The active side's time has been requested by now, if it changed.
  if (!sides.follow_lock()) return changed;
  ask_what_is_missing(asking);
  return true;
}

void App::Parts::apply(const Command& command) {
  // A side whose view was used becomes the active one, except for sizes, which views report by themselves.
  const bool is_of_side = command.context != Command::active;
  if (is_of_side && command.context >= state.contexts.size()) return;  // It was closed in the meantime.
  const ContextScope scope(state, is_of_side ? command.context : state.active_context);
  if (is_of_side && !is_size(command.id)) state.active_context = command.context;
  if (const std::string_view reason = why_not(state, command.id); !reason.empty()) {
    state.window.notice = reason;
    return;
  }
  if (command.id == CommandId::draw_again) return;
  if (command.id == CommandId::note_view) return note_view(state, command.as<ViewKind>());
  if (!is_size(command.id)) state.window.notice.clear();
  const auto selected = state.position().address;
  apply_in_context(command);
  // Whatever selects one thing selects no others.
  const bool is_restored = command.id == CommandId::back || command.id == CommandId::forward;
  if (command.id != CommandId::select_also && !is_restored && state.position().address != selected)
    state.context().position.also.clear();
}

void App::Parts::remember_filter(const std::string& filter) {
  if (filter.empty() || (!state.filters.empty() && state.filters.front() == filter)) return;
  add_filter(state.filters, filter);
  filters.note_change();
}

void App::Parts::apply_in_context(const Command& command) {
  const ViewPosition before = state.position();
  if (command.id == CommandId::set_filter) remember_filter(command.as<std::string>());
  if (apply_to_blocks(state, command)) {
    if (state.position().selection != before.selection) state.context().position.log_line.reset();
    if (state.position() != before) remember(state, before);
    return;
  }
  if (apply_to_window(state, pool, asking, command) || apply_to_files(state, sources, recent, command) ||
      sides.apply(command) || demo.apply(command) || jobs.apply(command) || emulation.apply(command) ||
      bookmarks.apply(command) || apply_to_code(state, pool, command))
    return;
  // The remaining commands change the position, and Back restores the previous one.
  Context& context = state.context();
  if (command.id == CommandId::back) return go(state, context.back, context.forward);
  if (command.id == CommandId::forward) return go(state, context.forward, context.back);
  if (!apply_to_trace(state, command) && !apply_to_position(state, sides, command)) apply_to_flame(state, command);
  if (context.position != before && is_step(command.id)) remember(state, before);
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
void App::list_jobs() {
  parts_->jobs.lists_on_first_page = true;
}
void App::save_settings() {
  if (leaves_no_trace_) return;
  write_settings(config_folder() / "settings.json", state().settings);
  // A worker may be writing the same lists or older ones at the same time.
  write_recent(state_folder() / "recent.json", state().recent);
  write_filters(state_folder() / "filters.json", state().filters);
  write_hues(state_folder() / "hues.json", state().hues.known().names());
  parts_->bookmarks.write_now();
}

}  // namespace hbmscope::gui
