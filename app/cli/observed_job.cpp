#include "app/cli/observed_job.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "analysis/query/job_warnings.h"
#include "analysis/units/utf8.h"
#include "app/cli/child_process.h"
#include "app/cli/cli.h"
#include "app/cli/far_start.h"
#include "app/cli/load.h"
#include "app/cli/program_files.h"
#include "app/cli/stderr_tail.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

constexpr int exit_not_started = 127;  // The exit code of a shell for a command that it can't find.

}  // namespace

// In the job's process, before its program starts.
void ObservedJob::set_variables_of_collector(const std::string& collector, const JobSettings& settings) const {
  setenv(serve::Observer::variable, observation_.observer().socket_path().c_str(), 1);
  if (settings.is_followed)
    unsetenv(wire::no_follow_variable);
  else
    setenv(wire::no_follow_variable, std::to_string(getpid()).c_str(), 1);
  // For NVTX ranges and markers, unless another tool uses NVTX.
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
  if (waitpid(job_, &status_, WNOHANG) != 0) {
    observation_.set_exit_code(exit_code());
    observation_.finish(link::status_flag::job_has_ended);
    return false;
  }
  observation_.serve(0);
  watched_.look(job_, observation_.observer().totals().processes);
  // From a terminal on another machine: Ctrl+C is for the whole process group, as it is here; other signals are for the
  // job.
  if (const int requested = observation_.take_requested_signal(); requested != 0 && is_far_started())
    kill(requested == SIGINT ? 0 : job_, requested);
  return true;
}

int ObservedJob::exit_code() const {
  return exit_code_from(status_);
}

void ObservedJob::send_signal(int signal) const {
  kill(job_, signal);
}

void ObservedJob::print_summary(bool explains) const {
  if (!is_observed_) return;
  const bool was_recorded = observation_.print_summary();
  if ((was_recorded && is_far_started()) || (!was_recorded && !explains)) return;
  if (!was_recorded)
    say("nothing was recorded: no process of this command allocated device memory that hbmscope can see");
  std::vector<pid_t> reported;
  for (const auto& process : observation_.observer().processes()) reported.push_back(static_cast<pid_t>(process.pid));
  const std::vector<std::string> sentences = watched_.sentences(reported);
  for (const std::string& sentence : sentences) say(printable(sentence));
  if (was_recorded) return;
  if (sentences.empty())
    say("it sees calls of the CUDA driver (libcuda.so.1), the pools of JAX, PyTorch and TensorFlow, and allocators "
        "annotated with collector/annotate/hbmscope.h. It does not see statically linked programs, libraries loaded "
        "with "
        "RTLD_DEEPBIND or dlmopen, processes with an empty environment (env -i) or of another user, and with "
        "--no-follow "
        "processes other than the first.");
  for (const JobWarning& warning :
       find_environment_warnings([](const char* name) -> const char* { return std::getenv(name); }))
    if (warning.keeps_jax_off_the_gpu) say("if it is a JAX job: " + printable(text_from_warning(warning)));
  observation_.remove_empty_recording();
  if (observation_.was_there()) say(fmt::format("{} was not changed.", printable(recording())));
}

}  // namespace hbmscope::cli
