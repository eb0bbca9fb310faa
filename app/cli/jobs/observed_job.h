// A job that is started with the collector preloaded, and observed. Not thread-safe; use it from one thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/jobs/observation.h"
#include "app/cli/jobs/watched_processes.h"

namespace hbmscope::cli {

class StderrTail;

struct JobSettings {
  bool is_followed = true;    // Also observe the processes that it starts,
  bool waits_for_all = true;  // and after the end of the command, until the last of them has ended.
  bool wants_cupti = false;   // Record calls of the CUDA driver with CUPTI, if it is available.
  std::string stacks;         // The value of wire::stacks_variable. Empty means no stacks.
  StderrTail* stderr_tail = nullptr;
  ListenOptions listen;
  serve::RecordingName recording_name = serve::RecordingName::chosen;
  bool may_run_unobserved = false;   // If it can't be observed, the job runs as without hbmscope.
  std::string memory_dump_prefix;    // For the dumps of XLA's allocator at failures, unless the user has set a prefix.
  std::vector<std::string> preload;  // Libraries after the collector's.
  std::vector<std::pair<std::string, std::string>> variables;  // To set in the job.
  bool is_output_to_stderr = false;  // Its standard output goes to standard error, as ours is for JSON.
};

class ObservedJob {
 public:
  ObservedJob() = default;
  ObservedJob(const ObservedJob&) = delete;
  ObservedJob& operator=(const ObservedJob&) = delete;

  // Creates the recording and then starts the job, which may run unobserved, with one line that says why. If it fails,
  // prints the error and returns the exit code.
  std::optional<int> start(const std::vector<std::string>& command, const std::string& recording,
                           const JobSettings& settings = {});
  // Waits briefly for events and receives them. False when the command and all processes that it has started have
  // ended, or the observation was ended after the command: by Ctrl+C or send_signal().
  bool serve();
  // The job's exit code, or 128 + the signal that ended it, as in a shell.
  int exit_code() const;
  pid_t pid() const { return job_; }
  bool is_observed() const { return is_observed_; }
  int status() const { return status_; }  // As returned by waitpid().
  // Prints what was recorded to standard error. Removes a recording without any process.
  // `explains`: also why nothing was recorded; a dry run on TPUs says that itself.
  void print_summary(bool explains = true) const;

  // To the command. After its end it ends the observation.
  void send_signal(int signal);
  std::vector<serve::Failure> take_failures();
  bool has_reported() const { return observation_.observer().totals().processes > 0; }
  bool is_recording() const { return observation_.is_recording(); }
  const std::string& recording() const { return observation_.recording(); }
  const std::string& viewer_socket() const { return observation_.viewer_socket(); }

 private:
  Result<std::string> prepare(const std::string& recording, const JobSettings& settings);
  void set_variables_of_collector(const std::string& collector, const JobSettings& settings) const;
  pid_t start_job(const std::vector<std::string>& command, const std::string& collector, const JobSettings& settings,
                  int& start_errno) const;

  // Signals ignored here. A terminal's Ctrl+C also reaches the job, which decides whether to end. A viewer that
  // disconnects is no reason to end, and neither is a recording that can't grow (ulimit -f).
  struct Ignored {
    int signal;
    void (*before)(int);
  };
  void ignore_signals();
  void note_end_of_command();
  bool goes_on();
  bool may_call_driver(const std::vector<pid_t>& processes) const;
  void leave(const std::vector<pid_t>& running, std::string_view why);

  std::array<Ignored, 4> ignored_{Ignored{SIGINT, SIG_DFL}, {SIGQUIT, SIG_DFL}, {SIGPIPE, SIG_DFL}, {SIGXFSZ, SIG_DFL}};
  Observation observation_;
  WatchedProcesses watched_;
  bool is_observed_ = true, is_dry_run_ = false, has_failures_ = false, waits_for_all_ = true;
  std::string name_;  // The command's.
  pid_t job_ = -1;
  int status_ = 0;
  bool has_ended_ = false, has_said_so_ = false, was_signalled_ = false;  // The command.
  std::chrono::steady_clock::time_point ended_at_, next_look_;
  std::chrono::milliseconds pause_{0};
};

}  // namespace hbmscope::cli
