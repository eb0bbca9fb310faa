#include "app/cli/jobs/observation.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "analysis/units/shell_quote.h"
#include "analysis/units/utf8.h"
#include "app/cli/load.h"
#include "app/cli/remote/far_start.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

volatile std::sig_atomic_t wait_end_requested = 0;

constexpr int round_ms = 5;
constexpr int viewer_patience_ms = 500;  // For a viewer that no longer reads when the job has ended.

}  // namespace

Observation::Observation()
    : observer_([this](const wire::SharedBlock& block) {
        begin_recording();
        const bool was_recording = recorder_.is_recording();
        recorder_.append(*block);
        if (was_recording && recorder_.failure())
          say(fmt::format("the recording ended, the job continues: {}", printable(*recorder_.failure())));
      }),
      port_(recorder_) {
  port_.set_keyframes([this] { return observer_.make_keyframes(); });
}

std::optional<Error> Observation::open_file(const std::string& recording, serve::RecordingName name) {
  recording_path_ = recording;
  std::error_code unknown;  // What can't be looked at can't be written either, which is found next.
  was_there_ = std::filesystem::exists(recording, unknown);
  if (const auto wrong = serve::try_recording(recording, name))
    return refusal(*wrong, "Choose another file with --record.", recording);
  return std::nullopt;
}

std::optional<std::string> Observation::open_sockets(const std::string& jobs_folder, std::uint32_t uid) {
  auto wrong = jobs_folder.empty() ? observer_.open() : observer_.open_in(jobs_folder, uid);
  if (!wrong) wrong = port_.open();
  if (wrong) remove_empty_recording();
  return wrong;
}

std::optional<int> Observation::open(const std::string& recording, serve::RecordingName name,
                                     const std::string& jobs_folder, std::uint32_t uid) {
  if (const auto failed = open_file(recording, name)) return fail(*failed);
  if (const auto wrong = open_sockets(jobs_folder, uid)) return fail(refusal(*wrong, remedy_without_sockets));
  return std::nullopt;
}

std::optional<int> Observation::listen(const ListenOptions& options) {
  const auto failed = listen_by_tcp(options, port_);
  if (failed) remove_empty_recording();
  return failed;
}

std::optional<std::string> Observation::start_recording() {
  leave_second_name();
  return recorder_.open(recording_path_);
}

void Observation::start_recording_with_first_process() {
  recorder_.open_later(recording_path_);
}

void Observation::begin_recording() {
  if (!recorder_.is_to_open()) return;
  leave_second_name();
  recorder_.begin();
  if (recorder_.failure())
    say(fmt::format("there is no recording, the job continues: {}", printable(*recorder_.failure())));
}

// A flight recorder's folder may have a hard link to the file. Removes this name so that the kept file is not
// overwritten.
void Observation::leave_second_name() const {
  std::error_code error;
  if (std::filesystem::is_regular_file(recording_path_, error) &&
      std::filesystem::hard_link_count(recording_path_, error) > 1)
    std::filesystem::remove(recording_path_, error);
}

std::optional<std::string> Observation::rename_recording(const std::string& path) {
  std::error_code error;
  std::filesystem::rename(recording_path_, path, error);
  if (error) return error.message();
  recording_path_ = path;
  return std::nullopt;
}

void Observation::remove_empty_recording() const {
  std::error_code error;
  if (!was_there_ && std::filesystem::is_regular_file(recording_path_, error) &&
      std::filesystem::file_size(recording_path_, error) == 0)
    std::filesystem::remove(recording_path_, error);
}

link::Status Observation::status(std::uint32_t flags) const {
  link::Status status;
  const serve::Observer::Totals totals = observer_.totals();
  status.processes = totals.processes;
  status.events = totals.events;
  status.lost_events = totals.lost + recorder_.lost_events();
  status.pending_requests = totals.pending;
  status.pending_bytes = totals.pending_bytes;
  status.flags = flags;
  if (exit_code_) {
    status.exit_code = *exit_code_;
    status.flags |= link::status_flag::has_exit_code;
  }
  return status;
}

void Observation::serve_viewers(std::uint32_t flags) {
  port_.serve(status(flags));
  for (const link::RequestKind request : port_.take_requests()) {
    switch (request) {
      case link::RequestKind::stop_recording: recorder_.stop(); break;
      case link::RequestKind::detach: detach_requested_ = true; break;
      case link::RequestKind::interrupt: requested_signal_ = SIGINT; break;
      case link::RequestKind::terminate: requested_signal_ = SIGTERM; break;
      case link::RequestKind::hang_up: requested_signal_ = SIGHUP; break;
      case link::RequestKind::skip_to_now: break;  // Handled by the port itself.
      case link::RequestKind::all_has_come: has_all_come_ = true; break;
    }
  }
}

// The machine that started this may be disconnected and may not have received the end yet. A signal ends the wait,
// because the recording must still be finished.
void Observation::wait_until_all_has_come(std::uint32_t flags) {
  constexpr std::chrono::minutes patience{10};
  constexpr std::chrono::milliseconds round{5};
  has_all_come_ = false;
  wait_end_requested = 0;
  for (const int one : {SIGINT, SIGTERM, SIGHUP}) std::signal(one, [](int) { wait_end_requested = 1; });
  for (const auto until = std::chrono::steady_clock::now() + patience;
       !has_all_come_ && wait_end_requested == 0 && std::chrono::steady_clock::now() < until;) {
    serve_viewers(flags | link::status_flag::waits);
    std::this_thread::sleep_for(round);
  }
}

// Once a second, and immediately after the driver refused a request.
void Observation::sample_devices() {
  if (!watches_devices_) return;
  const serve::Observer::Totals totals = observer_.totals();
  if (totals.may_hold_memory) devices_.start();
  if (totals.refusals > refusals_seen_) devices_.read_now();
  refusals_seen_ = totals.refusals;
  if (const auto totals_now = devices_.take()) observer_.note_devices(*totals_now);
}

void Observation::serve(std::uint32_t flags) {
  observer_.serve(round_ms);
  if (recorder_.is_to_open() && observer_.totals().processes > 0) begin_recording();
  sample_devices();
  serve_viewers(flags);
}

void Observation::finish(std::uint32_t flags) {
  observer_.finish();
  if (observer_.totals().processes > 0) begin_recording();
  if (is_far_started()) wait_until_all_has_come(flags);
  port_.finish(status(flags), viewer_patience_ms);
  recorder_.finish();
}

bool Observation::take_detach_request() {
  return std::exchange(detach_requested_, false);
}

int Observation::take_requested_signal() {
  return std::exchange(requested_signal_, 0);
}

bool Observation::print_summary(bool has_failures) const {
  for (const std::string& refused : observer_.refused()) say(fmt::format("rejected {}", printable(refused)));
  for (const std::string& refused : port_.refused()) say(fmt::format("rejected {}", printable(refused)));
  if (port_.crowded_out() > 0)
    say(fmt::format("rejected {} idle TCP connections, because there were too many at once",
                    text_from_count(port_.crowded_out())));
  const auto processes = observer_.processes();
  if (processes.empty()) return false;
  const serve::Observer::Totals totals = observer_.totals();
  for (const auto& process : processes) {
    if (process.stacks_lost > 0)
      say(fmt::format(
          "{} events of process {} have no stack, because it has too many different stacks; a lower --stack-depth "
          "makes fewer",
          text_from_count(process.stacks_lost), process.pid));
    if (process.has_sandbox)
      say(
          fmt::format("process {} set up a sandbox (seccomp), which could have killed what it forked after that for "
                      "being observed: only the process itself was",
                      process.pid));
    if (process.is_broken)
      say(fmt::format("process {} overwrote memory of its collector; later events are missing", process.pid));
  }
  if (is_far_started()) return true;  // The machine that follows has its own recording and prints this itself.
  const std::string summary =
      fmt::format("{} of {} ({} lost)", text_from_count_of(totals.events, "event"),
                  text_from_count_of(processes.size(), "process", "processes"), text_from_count(totals.lost));
  const std::string bytes = text_from_bytes(recorder_.bytes()), file = printable(recording());
  if (recorder_.failure())
    say(fmt::format("{}; {} ends at the write error ({}).", summary, file, bytes));
  else if (std::error_code gone; std::filesystem::file_size(recording(), gone) != recorder_.bytes())
    say(fmt::format("{}; {} was removed, replaced or cut by another program while it was written", summary, file));
  else
    say(fmt::format("{} saved in {} ({}). {} hbmscope {}{}", summary, file, bytes,
                    has_failures ? "Why memory ran out:" : "Open it with", has_failures ? "explain " : "",
                    shell_quote(file)));
  return true;
}

}  // namespace hbmscope::cli
