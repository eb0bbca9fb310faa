#include "app/cli/observed_job.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

constexpr int round_ms = 5;
constexpr int exit_not_started = 127;    // As a shell says of a command that it can't find.
constexpr int viewer_patience_ms = 500;  // For one that takes nothing any more when the job has ended.

// Beside this program where it was built, in lib/hbmscope where it was installed.
std::optional<std::filesystem::path> find_collector() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& place : {folder, folder.parent_path() / "lib" / "hbmscope"})
    if (std::filesystem::exists(place / "libhbmscope_collector.so", error)) return place / "libhbmscope_collector.so";
  return std::nullopt;
}

std::string count(std::uint64_t number) {
  return text_from_count(static_cast<std::int64_t>(number));
}

}  // namespace

ObservedJob::ObservedJob()
    : observer_([this](const wire::SharedBlock& block) {
        const bool was_recording = recorder_.is_recording();
        recorder_.append(*block);
        if (was_recording && recorder_.failure())
          fmt::print(stderr, "hbmscope: the recording ends here, the job goes on: {}\n",
                     printable(*recorder_.failure()));
      }),
      port_(recorder_) {}

// Starts the command with the collector in front of its other libraries. The child's errno where it could not be
// started comes through a pipe that a started program closes.
pid_t ObservedJob::start_job(const std::vector<std::string>& command, const std::string& collector, bool is_followed,
                             bool wants_cupti, int& start_errno) const {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const char* others = std::getenv("LD_PRELOAD");
  const std::string preload = others != nullptr && *others != 0 ? collector + ":" + others : collector;
  // AddressSanitizer refuses to start where it is not the first library; in front of what it stands for nothing is.
  const char* sanitizer_options = std::getenv("ASAN_OPTIONS");
  const std::string sanitizer = (sanitizer_options != nullptr ? sanitizer_options + std::string(":") : std::string()) +
                                "verify_asan_link_order=0";
  int pipe_ends[2] = {-1, -1};
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    start_errno = errno;
    return -1;
  }
  const pid_t job = fork();
  if (job == 0) {
    for (const Ignored& one : ignored_) std::signal(one.signal, one.before);  // As nohup and shells have set them.
    setenv("LD_PRELOAD", preload.c_str(), 1);
    setenv("ASAN_OPTIONS", sanitizer.c_str(), 1);
    setenv(serve::Observer::variable, observer_.socket_path().c_str(), 1);
    if (is_followed)
      unsetenv(wire::no_follow_variable);
    else
      setenv(wire::no_follow_variable, "1", 1);
    setenv("NVTX_INJECTION64_PATH", collector.c_str(), 0);  // Its ranges and marks, where nobody else is to have them.
    if (wants_cupti)
      setenv(wire::cupti_variable, "1", 1);
    else
      unsetenv(wire::cupti_variable);
    execvp(words.front(), words.data());
    const int failed = errno;
    [[maybe_unused]] const ssize_t written = write(pipe_ends[1], &failed, sizeof(failed));
    _exit(exit_not_started);
  }
  close(pipe_ends[1]);
  if (job < 0 || read(pipe_ends[0], &start_errno, sizeof(start_errno)) != static_cast<ssize_t>(sizeof(start_errno)))
    start_errno = job < 0 ? errno : 0;
  close(pipe_ends[0]);
  return job;
}

std::optional<int> ObservedJob::start(const std::vector<std::string>& command, const std::string& recording,
                                      bool is_followed, bool wants_cupti) {
  const auto collector = find_collector();
  if (!collector || collector->string().find_first_of(" :") != std::string::npos)
    return fail({collector ? fmt::format("the path of the collector has a blank or a colon: {}", collector->string())
                           : "libhbmscope_collector.so is missing",
                 "It belongs beside hbmscope or into lib/hbmscope; the loader takes no blank or colon in its path.",
                 {},
                 {},
                 false});
  // Only tried: what lies there is replaced when the job has started.
  const bool was_there = std::filesystem::exists(recording);
  const int tried = open(recording.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (tried < 0) return fail({std::strerror(errno), "Name another file with --record.", recording, {}, false});
  close(tried);
  auto wrong = observer_.open();
  if (!wrong) wrong = port_.open();
  if (wrong) {
    if (!was_there) std::filesystem::remove(recording);
    return fail({*wrong, "Set XDG_RUNTIME_DIR to a folder of yours that nobody else may enter.", {}, {}, false});
  }
  ignore_signals();
  int start_errno = 0;
  job_ = start_job(command, collector->string(), is_followed, wants_cupti, start_errno);
  if (start_errno == 0) {
    const auto failed = recorder_.open(recording);
    if (!failed) return std::nullopt;
    kill(job_, SIGTERM);
    return fail({*failed, "Name another file with --record.", recording, {}, false});
  }
  if (job_ > 0) waitpid(job_, &status_, 0);
  if (!was_there) std::filesystem::remove(recording);
  fail({fmt::format("{} can't be started: {}", command.front(), std::strerror(start_errno)),
        "Write the command after two dashes: hbmscope run -- python train.py",
        {},
        {},
        false});
  return exit_not_started;
}

void ObservedJob::ignore_signals() {
  for (Ignored& one : ignored_) one.before = std::signal(one.signal, SIG_IGN);
}

link::Status ObservedJob::status() const {
  link::Status status;
  const serve::Observer::Totals totals = observer_.totals();
  status.processes = totals.processes;
  status.events = totals.events;
  status.lost_events = totals.lost;
  if (has_ended_) status.flags |= link::status_flag::job_has_ended;
  return status;
}

bool ObservedJob::serve() {
  if (waitpid(job_, &status_, WNOHANG) != 0) {
    has_ended_ = true;
    finish();
    return false;
  }
  is_busy_ = observer_.serve(is_busy_ ? 0 : round_ms);
  port_.serve(status());
  for (const link::RequestKind request : port_.take_requests())
    if (request == link::RequestKind::stop_recording) recorder_.stop();
  return true;
}

void ObservedJob::finish() {
  observer_.finish();
  port_.finish(status(), viewer_patience_ms);
  recorder_.finish();
}

int ObservedJob::exit_code() const {
  return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

void ObservedJob::send_signal(int signal) const {
  kill(job_, signal);
}

void ObservedJob::print_summary() const {
  for (const std::string& refused : observer_.refused())
    fmt::print(stderr, "hbmscope: turned away {}\n", printable(refused));
  for (const std::string& refused : port_.refused())
    fmt::print(stderr, "hbmscope: turned away {}\n", printable(refused));
  const auto processes = observer_.processes();
  if (processes.empty()) {
    fmt::print(
        stderr,
        "hbmscope: no process of this command told of device memory, so nothing was recorded: none called the CUDA "
        "driver (libcuda.so.1) for memory, or had an allocator with collector/annotate/hbmscope.h. A statically linked "
        "program can't be watched from its start.\n");
    if (std::filesystem::is_regular_file(recording())) std::filesystem::remove(recording());
    return;
  }
  const serve::Observer::Totals totals = observer_.totals();
  for (const auto& process : processes) {
    if (process.is_broken)
      fmt::print(stderr,
                 "hbmscope: process {} wrote over memory of its collector; what it told after that is missing\n",
                 process.pid);
  }
  fmt::print(stderr, "hbmscope: {} events of {} {}, {} lost, in {} ({}). hbmscope {} shows them.\n",
             count(totals.events), count(processes.size()), processes.size() == 1 ? "process" : "processes",
             count(totals.lost), printable(recording()), text_from_bytes(recorder_.bytes()), printable(recording()));
}

}  // namespace hbmscope::cli
