#include "app/gui/sources/live_source.h"

#include <algorithm>
#include <utility>

namespace hbmscope::gui {
namespace {

constexpr int wait_ms = 1000;
constexpr double rate_seconds = 1;
// Allows for an observer that is just starting.
constexpr int connect_tries = 30;
constexpr auto connect_pause = std::chrono::milliseconds(100);

}  // namespace

LiveSource::LiveSource(const std::string& name, const std::string& socket, const LiveOptions& options, Sinks sinks)
    : growing_(name),
      sinks_(std::move(sinks)),
      link_([this](const wire::SharedBlock& block) { growing_.take(block); },
            [this](const link::Status& report) { note_status(report); }),
      is_from_now_(options.from_now) {
  growing_.set_memory_max(options.memory_max);
  growing_.expect_skips();
  link_.set_news(sinks_.news);
  thread_ = std::thread([this, socket] { run(socket); });
}

LiveSource::~LiveSource() {
  is_over_ = true;
  link_.cancel();
  thread_.join();
}

void LiveSource::want_version() {
  is_wanted_ = true;
  link_.wake();
}

void LiveSource::ask(link::RequestKind kind) {
  frames_requested_ = kind;
  is_asked_ = true;
  link_.wake();
}

void LiveSource::run(const std::string& socket) {
  auto wrong = link_.open(socket);
  for (int tries = 0; wrong && tries < connect_tries && !is_over_; ++tries) {
    std::this_thread::sleep_for(connect_pause);
    wrong = link_.open(socket);
  }
  if (wrong) return sinks_.end(nullptr, std::move(*wrong));
  // Reconnects a lost link and continues where it stopped, as long as the observer exists and data arrives.
  std::string why;
  for (bool goes_on = true; goes_on;) {
    const std::uint64_t before = growing_.events();
    follow();
    why = link_.why();
    if (is_over_) return;
    goes_on = !has_ended_ && why.empty() && growing_.events() > before;
    if (goes_on) std::this_thread::sleep_for(connect_pause);
    goes_on = goes_on && !link_.open(socket);
  }
  if (has_ended_) growing_.end_job();
  sinks_.end(growing_.events() == 0 ? nullptr : std::make_shared<const Trace>(growing_.finish()), why);
}

void LiveSource::follow() {
  while (!is_over_ && link_.read(wait_ms)) {
    if (is_asked_.exchange(false)) link_.request(frames_requested_);
    if (growing_.changes() == changes_handed_out_ || !is_wanted_.exchange(false)) continue;
    changes_handed_out_ = growing_.changes();
    sinks_.version(growing_.version());
  }
}

void LiveSource::note_status(const link::Status& report) {
  has_ended_ = (report.flags & link::status_flag::job_has_ended) != 0;
  if (is_from_now_) link_.skip_what_was(report);
  const auto now = std::chrono::steady_clock::now();
  const double passed = std::chrono::duration<double>(now - before_.reported_at).count();
  if (before_.reported_at == std::chrono::steady_clock::time_point{}) {
    before_.report = report;
    before_.reported_at = now;
  } else if (passed >= rate_seconds) {
    rate_ = static_cast<double>(report.events - std::min(report.events, before_.report.events)) / passed;
    before_.report = report;
    before_.reported_at = now;
  }
  lag_.note(report, link_.place(), growing_.last_time_ns());
  const std::uint64_t waiting = report.blocks_bytes - std::min(report.blocks_bytes, link_.place());
  sinks_.status({report, rate_, lag_.seconds(), waiting, growing_.file_bytes(), now});
  if (const std::string fault = growing_.file_fault(); !fault.empty() && !has_reported_file_) {
    has_reported_file_ = true;
    sinks_.news("Events that memory has no room for (--max-memory) can't be kept in a file: " + fault + ".");
  }
}

}  // namespace hbmscope::gui
