// A job that is started with the collector in it, and observed. One thread, the caller's.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/observation.h"

namespace hbmscope::cli {

class StderrTail;

struct JobSettings {
  bool is_followed = true;   // The processes that it starts are watched too.
  bool wants_cupti = false;  // See calls of the CUDA driver with CUPTI, where there is one.
  std::string stacks;        // As wire::stacks_variable has it; empty: none.
  StderrTail* stderr_tail = nullptr;
  ListenOptions listen;
  std::string memory_dump_prefix;  // Of what XLA's allocator writes at failures, where the user has set none.
};

class ObservedJob {
 public:
  ObservedJob() = default;
  ObservedJob(const ObservedJob&) = delete;
  ObservedJob& operator=(const ObservedJob&) = delete;

  // Where it failed: the text has been printed, and this is the exit code. The recording is made before the job starts.
  std::optional<int> start(const std::vector<std::string>& command, const std::string& recording,
                           const JobSettings& settings = {});
  // Waits for events, a little while at most, and takes in what came. False: the job has ended, and so has all of this.
  bool serve();
  // The job's own exit code; 128 and the signal where one ended it, as a shell has it.
  int exit_code() const;
  int status() const { return status_; }  // As waitpid() returns it.
  // What was recorded, on standard error. A recording without a process is removed.
  void print_summary() const;

  void send_signal(int signal) const;
  std::vector<serve::Failure> take_failures() { return observation_.observer().take_failures(); }
  bool has_reported() const { return observation_.observer().totals().processes > 0; }
  bool is_recording() const { return observation_.is_recording(); }
  const std::string& recording() const { return observation_.recording(); }
  const std::string& viewer_socket() const { return observation_.viewer_socket(); }

 private:
  pid_t start_job(const std::vector<std::string>& command, const std::string& collector, const JobSettings& settings,
                  int& start_errno) const;

  // A terminal's Ctrl+C reaches the job too, and it is the job's to end; a viewer that has gone is no reason to end,
  // nor is a recording that may not grow (ulimit -f).
  struct Ignored {
    int signal;
    void (*before)(int);
  };
  void ignore_signals();

  std::array<Ignored, 4> ignored_{Ignored{SIGINT, SIG_DFL}, {SIGQUIT, SIG_DFL}, {SIGPIPE, SIG_DFL}, {SIGXFSZ, SIG_DFL}};
  Observation observation_;
  pid_t job_ = -1;
  int status_ = 0;
};

}  // namespace hbmscope::cli
