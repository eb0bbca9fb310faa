#include "app/cli/jobs/observed_job.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "analysis/query/job_warnings.h"
#include "analysis/units/exit_text.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/cli.h"
#include "app/cli/dry_run/program_files.h"
#include "app/cli/jobs/child_process.h"
#include "app/cli/jobs/remaining_processes.h"
#include "app/cli/jobs/stderr_tail.h"
#include "app/cli/load.h"
#include "app/cli/remote/far_start.h"
#include "app/cli/terminal.h"
#include "collector/attach/job_list.h"
#include "collector/attach/job_memory.h"
#include "collector/attach/permission.h"

namespace hbmscope::cli {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int exit_not_started = 127;  // The exit code of a shell for a command that it can't find.

// For processes that go on after the command: until they are mentioned, because most end at once; between looks at
// them; until those are left alone that have reported nothing and have no driver, as daemons; and until all are after a
// signal that has ended the command and may end them.
constexpr std::chrono::milliseconds unmentioned_for = 500ms, first_pause = 10ms, longest_pause = 500ms,
                                    time_for_silent = 30s, time_after_signal = 5s;

volatile std::sig_atomic_t end_was_requested = 0;

}  // namespace

// In the job's process, before its program starts.
void ObservedJob::set_variables_of_collector(const std::string& collector, const JobSettings& settings) const {
  setenv(serve::Observer::variable, observation_.observer().socket_path().c_str(), 1);
  if (settings.is_followed)
    unsetenv(wire::no_follow_variable);
  else
    setenv(wire::no_follow_variable, std::to_string(getpid()).c_str(), 1);
  // For NVTX ranges and markers, unless another tool uses NVTX.
  setenv(wire::filters_variable, std::to_string(attach::read_status(getpid()).filters()).c_str(), 1);
  setenv("NVTX_INJECTION64_PATH", collector.c_str(), 0);
  if (!settings.memory_dump_prefix.empty()) setenv("TF_BFC_MEMORY_DUMP", settings.memory_dump_prefix.c_str(), 0);
  if (settings.wants_cupti)
    setenv(wire::cupti_variable, "1", 1);
  else
    unsetenv(wire::cupti_variable);
  if (!settings.stacks.empty())
    setenv(wire::stacks_variable, settings.stacks.c_str(), 1);
  else
    unsetenv(wire::stacks_variable);
}

// Starts the command with the collector, unless that is empty, preloaded before its other libraries. If that fails, the
// child sends its errno through a pipe that closes when a program starts.
pid_t ObservedJob::start_job(const std::vector<std::string>& command, const std::string& collector,
                             const JobSettings& settings, int& start_errno) const {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const char* others = std::getenv("LD_PRELOAD");
  std::string preload = collector;
  const auto add_to_preload = [&](const std::string& library) { preload += (preload.empty() ? "" : ":") + library; };
  for (const std::string& library : settings.preload) add_to_preload(library);
  if (others != nullptr && *others != 0) add_to_preload(others);
  // AddressSanitizer refuses to start unless it is the first library. Here only the collector precedes it, so the check
  // is turned off.
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
    for (const Ignored& one : ignored_) std::signal(one.signal, one.before);  // As set by nohup or by a shell.
    if (!preload.empty()) setenv("LD_PRELOAD", preload.c_str(), 1);
    if (!preload.empty()) setenv("ASAN_OPTIONS", sanitizer.c_str(), 1);
    for (const auto& [name, value] : settings.variables) setenv(name.c_str(), value.c_str(), 1);
    if (settings.is_output_to_stderr) dup2(STDERR_FILENO, STDOUT_FILENO);
    if (!collector.empty()) set_variables_of_collector(collector, settings);
    if (settings.stderr_tail != nullptr) settings.stderr_tail->hand_over();
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

// Everything that observing requires. Returns the path of the collector.
Result<std::string> ObservedJob::prepare(const std::string& recording, const JobSettings& settings) {
  const auto found = find_collector();
  if (!found) return Failure(collector_is_missing());
  std::string collector = found->string();
  if (auto fault = find_preload_fault("the collector", collector)) return Failure(std::move(*fault));
  if (auto failed = observation_.open_file(recording, settings.recording_name)) return Failure(std::move(*failed));
  if (const auto wrong = observation_.open_sockets()) return Failure(refusal(*wrong, remedy_without_sockets));
  return collector;
}

std::optional<int> ObservedJob::start(const std::vector<std::string>& command, const std::string& recording,
                                      const JobSettings& settings) {
  const Result<std::string> collector = prepare(recording, settings);
  is_observed_ = collector.has_value();
  if (!is_observed_) {
    // The machine that started this waits for a stream.
    if (!settings.may_run_unobserved || is_far_started()) return fail(collector.error());
    say("the job runs without being observed: " + printable(collector.error().text()));
  }
  if (is_observed_)
    if (const auto failed = observation_.listen(settings.listen)) return failed;
  name_ = std::filesystem::path(command.front()).filename().string();
  is_dry_run_ = !settings.preload.empty();
  waits_for_all_ = settings.waits_for_all && settings.is_followed;
  if (is_observed_) adopt_orphans();
  ignore_signals();
  int start_errno = 0;
  job_ = start_job(command, is_observed_ ? *collector : std::string(), settings, start_errno);
  if (start_errno == 0 && !is_observed_) return std::nullopt;
  if (start_errno == 0) {
    observation_.watch_devices();
    observation_.start_recording_with_first_process();
    return std::nullopt;
  }
  if (job_ > 0) waitpid(job_, &status_, 0);
  observation_.remove_empty_recording();
  fail(refusal(
      fmt::format("cannot start {}: {}", command.front(), std::strerror(start_errno)),
      "Write the command after two dashes: hbmscope run -- python train.py; on another machine: hbmscope run --on "
      "HOST -- python train.py"));
  return exit_not_started;
}

void ObservedJob::ignore_signals() {
  for (Ignored& one : ignored_) one.before = std::signal(one.signal, SIG_IGN);
}

bool ObservedJob::serve() {
  if (!is_observed_) {
    constexpr useconds_t step_us = 5'000;
    if (waitpid(job_, &status_, WNOHANG) != 0) return false;
    usleep(step_us);
    return true;
  }
  if (!has_ended_ && waitpid(job_, &status_, WNOHANG) != 0) note_end_of_command();
  reap_orphans(job_);
  if (has_ended_ && !goes_on()) {
    observation_.finish(link::status_flag::job_has_ended);
    return false;
  }
  observation_.serve(0);
  watched_.look(job_, observation_.observer().totals().processes);
  // From a terminal on another machine: Ctrl+C is for the whole process group, as it is here; other signals are for the
  // job.
  if (const int requested = observation_.take_requested_signal(); requested != 0 && is_far_started()) {
    if (requested == SIGINT && !has_ended_)
      kill(0, requested);
    else
      send_signal(requested);
  }
  return true;
}

void ObservedJob::note_end_of_command() {
  has_ended_ = true;
  ended_at_ = Clock::now();
  observation_.set_exit_code(exit_code());
  for (const Ignored& one : ignored_)  // Under nohup, and in the background of a shell, it stays ignored.
    if (one.signal == SIGINT && one.before != SIG_IGN) std::signal(SIGINT, [](int) { end_was_requested = 1; });
}

// The command has ended. Processes that it has started may go on, and some that have reported nothing yet may still
// do so.
bool ObservedJob::goes_on() {
  const auto now = Clock::now();
  const bool is_left = end_was_requested != 0 || (was_signalled_ && now - ended_at_ >= time_after_signal);
  if (now < next_look_ && !is_left) return true;
  pause_ = std::clamp<std::chrono::milliseconds>(2 * pause_, first_pause, longest_pause);
  next_look_ = now + pause_;
  std::vector<pid_t> running;
  for (const std::int64_t process : observation_.observer().running()) running.push_back(static_cast<pid_t>(process));
  if (!waits_for_all_) {
    leave(running, "with the command (--wait command)");
    return false;
  }
  const bool has_only_silent = running.empty();
  const bool says_so = !has_said_so_ && now - ended_at_ >= unmentioned_for;
  if (running.empty() || says_so || is_left)
    for (const pid_t process : find_processes_that_may_report(observation_.observer().socket_path()))
      if (std::find(running.begin(), running.end(), process) == running.end()) running.push_back(process);
  if (running.empty()) return false;
  if (has_only_silent && now - ended_at_ >= time_for_silent && !may_call_driver(running)) {
    leave(running, fmt::format("because nothing was reported in the {} s after {} ended", time_for_silent / 1s,
                               printable(name_)));
    return false;
  }
  if (is_left) {
    leave(running, end_was_requested != 0 ? "as requested" : "because a signal ended the command");
    return false;
  }
  if (says_so) {
    has_said_so_ = true;
    say(fmt::format(
        "{} {}; {} that it started {} and {} observed: {}. {} ends the observation (--wait command: with "
        "the command).",
        printable(name_),
        WIFSIGNALED(status_) ? "was ended by " + name_of_signal(WTERMSIG(status_))
                             : fmt::format("has ended with {}", exit_code()),
        text_from_count_of(running.size(), "process", "processes"), running.size() == 1 ? "goes on" : "go on",
        running.size() == 1 ? "is" : "are", printable(text_from_processes(running)),
        isatty(STDERR_FILENO) != 0 || is_far_started() ? "Ctrl+C" : fmt::format("kill {}", getpid())));
  }
  return true;
}

// Whether one of them has loaded a driver. On an emulated device all have.
bool ObservedJob::may_call_driver(const std::vector<pid_t>& processes) const {
  return !is_dry_run_ && std::any_of(processes.begin(), processes.end(), [](pid_t process) {
    return attach::has_cuda_driver(attach::read_mappings(process));
  });
}

// They go on unobserved; the recording says so.
void ObservedJob::leave(const std::vector<pid_t>& running, std::string_view why) {
  if (running.empty()) return;
  observation_.observer().note_left_running();
  say(fmt::format("the observation ends {}, and {} {}: what {} from now on is not recorded", why,
                  printable(text_from_processes(running)), running.size() == 1 ? "goes on" : "go on",
                  running.size() == 1 ? "it does" : "they do"));
}

std::vector<serve::Failure> ObservedJob::take_failures() {
  auto failures = observation_.observer().take_failures();
  has_failures_ = has_failures_ || !failures.empty();
  return failures;
}

int ObservedJob::exit_code() const {
  return exit_code_from(status_);
}

void ObservedJob::send_signal(int signal) {
  if (has_ended_) {
    end_was_requested = 1;
    return;
  }
  was_signalled_ = true;
  kill(job_, signal);
}

void ObservedJob::print_summary(bool explains) const {
  if (!is_observed_) return;
  const bool was_recorded = observation_.print_summary(has_failures_);
  if ((was_recorded && is_far_started()) || (!was_recorded && !explains)) return;
  if (!was_recorded)
    say("nothing was recorded: no process of this command allocated device memory that hbmscope can see");
  std::vector<pid_t> reported;
  for (const auto& process : observation_.observer().processes()) reported.push_back(static_cast<pid_t>(process.pid));
  const std::vector<std::string> sentences = watched_.sentences(reported, is_dry_run_);
  for (const std::string& sentence : sentences) say(printable(sentence));
  if (was_recorded) return;
  if (sentences.empty())
    say("it sees calls of the CUDA driver (libcuda.so.1), the pools of JAX, PyTorch and TensorFlow, and allocators "
        "annotated with collector/annotate/hbmscope.h. It does not see statically linked programs, libraries loaded "
        "with "
        "RTLD_DEEPBIND or dlmopen, processes with an empty environment (env -i), of another user or in a sandbox "
        "(seccomp), and with "
        "--no-follow "
        "processes other than the first.");
  for (const JobWarning& warning :
       find_environment_warnings([](const char* name) -> const char* { return std::getenv(name); }))
    if (warning.keeps_jax_off_the_gpu) say("if it is a JAX job: " + printable(text_from_warning(warning)));
  observation_.remove_empty_recording();
  if (observation_.was_there()) say(fmt::format("{} was not changed.", printable(recording())));
}

}  // namespace hbmscope::cli
