#include "app/gui/core/app.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "app/gui/core/app_impl.h"
#include "app/gui/sources/sample.h"

namespace hbmscope::gui {
namespace {

// Trees of large profiles are tens of megabytes each; this is room for going back and forth between several.
constexpr std::size_t cache_bytes = std::size_t{512} << 20;

unsigned worker_count() {
  return std::clamp(std::thread::hardware_concurrency(), 2u, 8u);
}

}  // namespace

App::Impl::Impl(std::function<void()> wake, bool leaves_no_trace)
    : leaves_no_trace_(leaves_no_trace), cache_(cache_bytes), pool_(worker_count(), std::move(wake)) {
  state.settings = read_settings(config_folder() / "settings.json");
  state.recent = read_recent(state_folder() / "recent.json");
  state.sample = find_sample();
  find_missing_recent();
}

App::Impl::~Impl() {
  for (const Source& source : state.sources) {
    if (source.control) source.control->cancelled = true;
    cancel_emulating(source);
  }
  for (Side& side : sides_)
    for (auto& [kind, slot] : side.slots)
      if (slot.work) slot.work->cancelled = true;
  if (follow_work_) follow_work_->cancelled = true;
}

bool App::Impl::busy() const {
  if (pool_.busy() || !commands.empty()) return true;
  for (std::size_t i = 0; i < sides_.size(); ++i)
    if (sides_[i].waits_for_rest || state.contexts[i].is_playing) return true;
  return false;
}

bool App::Impl::update() {
  bool changed = pool_.run_finished();
  for (const Command& command : commands.take_commands()) {
    apply(command);
    changed = true;
  }
  watch_jobs();
  want_versions();
  for (std::size_t i = 0; i < state.contexts.size(); ++i) {
    const ContextScope scope(state, i);
    changed = advance_play(std::chrono::steady_clock::now()) || changed;
  }
  keep_recent();
  changed = ask_what_is_missing() || changed;
  // By now the active side's moment is asked for, if it is another one.
  if (!follow_lock()) return changed;
  ask_what_is_missing();
  return true;
}

void App::Impl::save_settings() {
  if (leaves_no_trace_) return;
  write_settings(config_folder() / "settings.json", state.settings);
  // Whatever a worker may be writing at this moment is the same list or an older one.
  write_recent(state_folder() / "recent.json", state.recent);
}

App::App(std::function<void()> wake, bool leaves_no_trace)
    : impl_(std::make_unique<Impl>(std::move(wake), leaves_no_trace)) {}
App::~App() = default;

const AppState& App::state() const {
  return impl_->state;
}
CommandQueue& App::commands() {
  return impl_->commands;
}
bool App::update() {
  return impl_->update();
}
bool App::busy() const {
  return impl_->busy();
}
void App::set_live_options(const LiveOptions& options) {
  impl_->live_options = options;
}
void App::list_jobs() {
  impl_->list_jobs();
}
void App::save_settings() {
  impl_->save_settings();
}

}  // namespace hbmscope::gui
