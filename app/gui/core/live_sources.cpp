// Running jobs as sources: each version that comes is shown like a part of a file that is being read, and the next one
// is asked for when the pictures of the one before are there.
#include <algorithm>

#include "app/gui/core/app_impl.h"
#include "app/gui/core/running_work.h"
#include "app/gui/sources/read_file.h"

namespace hbmscope::gui {
namespace {

constexpr auto age_of_a_version = std::chrono::milliseconds(100);

Error lost_link(const std::string& name, const std::string& wrong) {
  return {"no running job answers: " + wrong, "Is its hbmscope run still there? What it recorded is in its .hbm file.",
          name, std::nullopt, false};
}

}  // namespace

void App::Impl::start_live(const Source& source, const std::string& socket) {
  const std::weak_ptr control = source.control;
  LiveSource::Sinks sinks;
  sinks.version = source.control->take_part;
  sinks.status = [this, control](const LiveStatus& status) {
    pool_.post([this, control, status]() -> WorkerPool::Finish {
      return [this, control, status] {
        Source* live = find_reading(control.lock());
        // They come by way of several workers.
        if (live != nullptr && (!live->live || live->live->told_at < status.told_at)) live->live = status;
      };
    });
  };
  sinks.news = [this](const std::string& news) {
    pool_.post([this, news]() -> WorkerPool::Finish { return [this, news] { state.window.notice = news; }; });
  };
  sinks.end = [this, control, name = source.path](const LiveSource::Version& trace, const std::string& wrong) {
    pool_.post([this, control, name, trace, wrong] { return end_live(control.lock(), name, trace, wrong); });
  };
  live_[source.control.get()] = {
      std::make_unique<LiveSource>(source.path, socket, live_options, std::move(sinks)), {}, true};
}

// What was shown stays; a link that never told anything leaves its error.
WorkerPool::Finish App::Impl::end_live(const std::shared_ptr<ReadControl>& control, const std::string& name,
                                       const LiveSource::Version& trace, const std::string& wrong) {
  if (control == nullptr) return nullptr;
  const auto read = trace ? source_at(trace, {}) : Result<hbmscope::Source>(Failure(lost_link(name, wrong)));
  const auto file = read ? ReadFile::from(*read) : Result<ReadFile>(Failure(read.error()));
  return [this, control, file, wrong] {
    live_.erase(control.get());
    finish_reading(control, [&](Source& source) {
      const auto has_flag = [&](std::uint32_t flag) { return source.live && (source.live->told.flags & flag) != 0; };
      const bool has_ended = has_flag(link::status_flag::job_has_ended);
      const bool was_let_go = has_flag(link::status_flag::is_attached);
      const std::uint64_t lost_events = source.live ? source.live->told.lost_events : 0;
      source.live.reset();
      if (!file) {
        source.state = AnswerState::failed;
        source.error = attach_error(source.path).value_or(file.error());
        return;
      }
      if (source.is_part()) renew_id(source);
      file->fill(source);
      source.ended = EndedLive{has_ended       ? "The job has ended."
                               : was_let_go    ? "Let go: the job runs on, and what was seen of it stays here."
                               : wrong.empty() ? "The observer has ended; the job may go on."
                                               : "The connection was lost: " + wrong + ".",
                               lost_events};
      state.window.notice = source.ended->words;
    });
  };
}

void App::Impl::close_live(const Source& source) {
  if (source.control) live_.erase(source.control.get());
}

void App::Impl::want_versions() {
  const auto now = std::chrono::steady_clock::now();
  // All that is asked about one version is answered before the next one comes: nothing is worked out in vain, and a
  // long recording is renewed less often instead of never.
  const bool is_drawn = running_work(state.contexts).empty();
  for (auto& [control, live] : live_) {
    if (!live.is_shown || !is_drawn || now - live.shown_at < age_of_a_version) continue;
    live.is_shown = false;
    live.source->want_version();
  }
}

void App::Impl::note_version(const ReadControl* control) {
  const auto live = live_.find(control);
  if (live == live_.end()) return;
  live->second.is_shown = true;
  live->second.shown_at = std::chrono::steady_clock::now();
  // It stays at the end, whatever happens there.
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const Source* source = find_source(state.contexts[i].position.source);
    if (source != nullptr && source->control.get() == control) sides_[i].unread_source = SourceId::none;
  }
}

// Hold: the moment stands, the job and its recording go on. Once more: the end is followed again.
bool App::Impl::toggle_hold() {
  const Source* source = state.source();
  if (source == nullptr || !source->live) return false;
  ViewPosition& position = state.context().position;
  if (!position.is_at_end()) {
    position.at.clear();
    return true;
  }
  const auto moment = state.answers().moment.value;
  if (moment == nullptr) return true;
  const HeapKey heap = choose_heap(*moment->trace, position.heap);
  if (heap.stream < moment->moment.positions.size())  // Also where no heap holds anything.
    position.at = {*moment->trace, heap.stream, moment->position(heap)};
  return true;
}

void App::Impl::ask_observer(link::RequestKind kind) {
  const Source* source = state.source();
  if (source == nullptr || !source->control) return;
  const auto live = live_.find(source->control.get());
  if (live != live_.end()) live->second.source->ask(kind);
}

}  // namespace hbmscope::gui
