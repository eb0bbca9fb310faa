#include "app/cli/remote/far_job.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/cli.h"
#include "app/cli/jobs/display.h"
#include "app/cli/remote/far_start.h"
#include "app/cli/load.h"
#include "app/cli/export/output_file.h"
#include "app/cli/terminal.h"
#include "app/cli/jobs/window_process.h"
#include "collector/serve/recorder.h"
#include "collector/view/live_link.h"

namespace hbmscope::cli {
namespace {

volatile std::sig_atomic_t far_job_signal = 0;

void note_signal_for_far_job(int signal) {
  far_job_signal = signal;
}

// What the remote command prints when it has started.
struct Begun {
  std::string observer, folder;
};
std::optional<Begun> begun_from(const std::string& output) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, folder;
    Begun begun;
    if (!(words >> name >> begun.observer >> folder) || name != far_start_line) continue;
    begun.folder = view::decoded(folder).value_or("");
    return begun;
  }
  return std::nullopt;
}

class FollowedJob {
 public:
  // `failure`: why there is no recording on this machine.
  FollowedJob(const FarJobOptions& options, std::optional<std::string> failure)
      : options_(options),
        is_run_(options.words.front() == "run"),
        link_([this](const wire::SharedBlock& block) { keep(*block); },
              [this](const link::Status& status) { status_ = status; }),
        failure_(std::move(failure)) {}

  int run(const Begun& begun, bool has_window) {
    const std::string name = options_.far.host + ":" + begun.observer;
    for (const int one : {SIGINT, SIGTERM, SIGHUP})
      if (std::signal(one, note_signal_for_far_job) == SIG_IGN) std::signal(one, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    link_.set_news([](const std::string& news) { say(printable(news)); });
    link_.set_output(begun.folder, [](std::span<const std::uint8_t> bytes, bool is_error) {
      while (!bytes.empty()) {
        const ssize_t written = write(is_error ? STDERR_FILENO : STDOUT_FILENO, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EAGAIN) {  // Another program on the same terminal or pipe made it non-blocking.
          pollfd room{is_error ? STDERR_FILENO : STDOUT_FILENO, POLLOUT, 0};
          poll(&room, 1, -1);
          continue;
        }
        if (written <= 0) break;  // The reader is gone; the job continues.
        bytes = bytes.subspan(static_cast<std::size_t>(written));
      }
    });
    if (const auto wrong = link_.open(view::socket_of("live:" + name))) return fail_to_follow(name, *wrong);
    if (has_window && !options_.no_window && has_display()) window_.open(name);
    while (link_.read(100)) {
      if (far_job_signal != 0 && !take_signal(std::exchange(far_job_signal, 0))) return leave(name);
      if (!is_run_ && window_.was_closed()) pending_request_ = link::RequestKind::detach;
      if (pending_request_ && !link_.is_lost()) link_.request(*std::exchange(pending_request_, std::nullopt));
      const bool is_all = (status_.flags & link::status_flag::waits) != 0 && link_.place() >= status_.blocks_bytes;
      has_all_ = has_all_ || is_all;
      if (is_all && !link_.is_lost() && !std::exchange(has_said_so_, true))
        link_.request(link::RequestKind::all_has_come);
      if (link_.is_lost()) has_said_so_ = false;  // The message may have been lost with the connection.
    }
    finish(begun);
    if (!link_.why().empty() && !has_all_) return fail_to_follow(name, link_.why());
    if (!is_run_) return exit_ok;
    constexpr int exit_code_max = 255;
    const bool has_exit_code = (status_.flags & link::status_flag::has_exit_code) != 0;
    if (has_exit_code && status_.exit_code >= 0 && status_.exit_code <= exit_code_max) return status_.exit_code;
    return fail(refusal(fmt::format("{} did not report how the job ended", options_.far.host), {}));
  }

 private:
  void keep(const wire::Block& block) {
    if (failure_) return;
    if (!has_begun_) failure_ = recording_.open(options_.record);
    has_begun_ = true;
    if (!failure_) recording_.append(block);
    if (!failure_) failure_ = recording_.failure();
    if (failure_)
      say(fmt::format("the local recording ended, the remote one continues: {}: {}", printable(options_.record),
                      printable(*failure_)));
  }

  // False for a second signal while the first one could not be sent.
  bool take_signal(int signal) {
    const auto request = !is_run_            ? link::RequestKind::detach
                         : signal == SIGTERM ? link::RequestKind::terminate
                         : signal == SIGHUP  ? link::RequestKind::hang_up
                                             : link::RequestKind::interrupt;
    if (!link_.is_lost()) {
      link_.request(request);
      return true;
    }
    if (pending_request_) return false;
    pending_request_ = request;
    say(fmt::format(
        "the connection to {} is lost; the signal is sent when it is back. Press again to end only this command",
        options_.far.host));
    return true;
  }

  int leave(const std::string& name) {
    finish_recording();
    say(fmt::format("the job is still running and observed: hbmscope watch {0}, or hbmscope detach {0}", name));
    constexpr int interrupted = 130;
    return interrupted;
  }

  int fail_to_follow(const std::string& name, const std::string& wrong) {
    return fail(
        {printable(wrong), fmt::format("Check whether it is still running: hbmscope watch {}", name), name, {}, false});
  }

  void finish_recording() {
    if (!has_begun_ || failure_) return;
    recording_.finish();
    failure_ = recording_.failure();
  }

  void finish(const Begun& begun) {
    finish_recording();
    if (!has_begun_ || failure_) {
      say(fmt::format("nothing was recorded here; the files on {} are in {}", options_.far.host,
                      printable(begun.folder)));
      return;
    }
    const auto count = [](std::uint64_t number) { return text_from_count(static_cast<std::int64_t>(number)); };
    say(fmt::format("{} events of {} {} on {} ({} lost) saved in {} ({}); on that machine in {}/recording.hbm",
                    count(status_.events), status_.processes, status_.processes == 1 ? "process" : "processes",
                    options_.far.host, count(status_.lost_events), printable(options_.record),
                    text_from_bytes(recording_.bytes()), printable(begun.folder)));
  }

  const FarJobOptions& options_;
  const bool is_run_;
  view::LiveLink link_;
  link::Status status_;
  serve::Recorder recording_;
  std::optional<std::string> failure_;
  std::optional<link::RequestKind> pending_request_;  // Sent when the connection is back.
  WindowProcess window_;
  bool has_begun_ = false, has_said_so_ = false, has_all_ = false;
};

}  // namespace

int follow_far_job(const FarJobOptions& given, bool has_window) {
  FarJobOptions options = given;
  if (const auto failed = prepare_host(options.far)) return *failed;
  const serve::RecordingName name =
      options.record.empty() ? serve::RecordingName::made_up : serve::RecordingName::chosen;
  if (options.record.empty()) options.record = new_recording(options.name);
  // Before anything is started on the other machine.
  std::error_code unknown;
  const bool was_there = std::filesystem::exists(options.record, unknown);
  const auto wrong = serve::try_recording(options.record, name);
  const Error no_recording = refusal(wrong.value_or(""), "Choose another file with --record.", options.record);
  if (wrong && options.words.front() != "run") return fail(no_recording);
  if (wrong)
    say(fmt::format("the job is recorded on {} only: {}", options.far.host, printable(no_recording.text())));
  else if (!was_there)
    std::filesystem::remove(options.record, unknown);
  std::vector<std::string> words{"far-start"};
  words.insert(words.end(), options.words.begin(), options.words.end());
  int code = exit_ok;
  const std::string output = read_from_there(options.far, words, code);
  const auto begun = begun_from(output);
  if (code == exit_ok && begun) return FollowedJob(options, wrong).run(*begun, has_window);
  if (code == exit_ok)
    return fail(refusal(fmt::format("{} did not report that the job started", options.far.host), {}));
  return code == view::ssh_failed ? exit_unreadable : code;
}

}  // namespace hbmscope::cli
