// Running jobs as sources. Each version is shown like the part of a file that is being read.
#include <string_view>
#include <utility>

#include "app/gui/core/looking.h"
#include "app/gui/core/open_sources.h"

namespace hbmscope::gui {
namespace {

Error lost_link(const std::string& name, const std::string& wrong) {
  constexpr std::string_view local = "live:";
  const bool is_number =
      name.starts_with(local) && name.find_first_not_of("0123456789", local.size()) == std::string::npos;
  if (is_number && wrong.starts_with("No such file"))  // Its socket is gone.
    return {"job " + name.substr(local.size()) + " has ended",
            "What it recorded is in its .hbm file.",
            {},
            std::nullopt,
            false};
  return {"no running job answers: " + wrong,
          "Check that its hbmscope run is still there. What it recorded is in its .hbm file.", name, std::nullopt,
          false};
}

}  // namespace

void OpenSources::start_live(const Source& source, const std::string& socket) {
  const std::weak_ptr control = source.control;
  LiveSource::Sinks sinks;
  sinks.version = source.control->take_part;
  sinks.status = [this, control](const LiveStatus& status) {
    pool_.post_finished([this, control, status] {
      if (Source* live = find_reading(control.lock())) live->live = status;
    });
  };
  sinks.news = [this](const std::string& news) { pool_.post_finished([this, news] { state_.window.notice = news; }); };
  sinks.end = [this, control, name = source.path](const LiveSource::Version& trace, const std::string& wrong) {
    pool_.post([this, control, name, trace, wrong] { return end_live(control.lock(), name, trace, wrong); });
  };
  live_.open(source, socket, live_options, std::move(sinks));
}

// Keeps what was shown. If the link never sent anything, its error is shown.
WorkerPool::Finish OpenSources::end_live(const std::shared_ptr<ReadControl>& control, const std::string& name,
                                         const LiveSource::Version& trace, const std::string& wrong) {
  if (control == nullptr) return nullptr;
  auto content = trace ? source_at(trace, {}).and_then(content_of) : Failure(lost_link(name, wrong));
  if (content) content->opening_at.clear();  // A job is shown at its end.
  return [this, control, content = std::move(content), wrong] {
    live_.erase(control.get());
    finish_reading(control, [&](Source& source) {
      const auto has_flag = [&](std::uint32_t flag) { return source.live && (source.live->report.flags & flag) != 0; };
      const bool has_ended = has_flag(link::status_flag::job_has_ended);
      const bool was_let_go = has_flag(link::status_flag::is_attached);
      const std::uint64_t lost_events = source.live ? source.live->report.lost_events : 0;
      const auto exit_code =
          has_flag(link::status_flag::has_exit_code) ? std::optional(source.live->report.exit_code) : std::nullopt;
      source.live.reset();
      if (!content) {
        source.state = AnswerState::failed;
        source.error = (why_nothing_came ? why_nothing_came(source.path) : std::nullopt).value_or(content.error());
        return;
      }
      if (source.is_part()) renew_id(source);
      source.take(*content);
      source.ended = EndedLive{has_ended       ? "The job has ended."
                               : was_let_go    ? "Detached. The job keeps running; the recording up to here is kept."
                               : wrong.empty() ? "The observer has ended; the job may still run."
                                               : "The connection was lost: " + wrong + ".",
                               lost_events, was_let_go && !has_ended, exit_code};
      state_.window.notice = source.ended->words;
    });
  };
}

void OpenSources::note_version(const ReadControl* control) {
  if (!live_.note_version(control)) return;
  // The position stays at the end, whatever happens there.
  for (Context& context : state_.contexts) {
    const Source* source = state_.find_source(context.position.source);
    if (source != nullptr && source->control.get() == control) context.notes.unread_source = SourceId::none;
  }
}

void OpenSources::ask_observer(link::RequestKind kind) {
  const Source* source = state_.source();
  if (source != nullptr && source->control) live_.ask(source->control.get(), kind);
}

}  // namespace hbmscope::gui
