// The flight recorder of hbmscope run and attach. It keeps a folder about each job that failed:
//
//   20261122T040102Z-train.py-4711/
//     what_happened.txt   what went wrong, when, and how the job ended
//     recording.hbm       the recording: a hard link to it, or a copy if that is impossible
//     stderr-1.txt ...    the end of the job's standard error at each failure, and when it had ended
//     bfc_memory_dump_*   what XLA's allocator wrote (TF_BFC_MEMORY_DUMP)
//
// An attached job has no standard error, dump or exit code there, since these must be set up before it starts. The
// folder exists while the job runs, and is removed if nothing went wrong. When a new folder stays, old ones are
// removed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/jobs/observed_job.h"
#include "app/cli/jobs/stderr_tail.h"
#include "collector/serve/failure_watch.h"

namespace hbmscope::cli {

struct FlightOptions {
  bool is_off = false;
  bool on_exit = false;  // Also for a job that ends normally.
  std::string folder;    // Empty: hbmscope/flights in XDG_STATE_HOME, otherwise in ~/.local/state.
  std::size_t keep = 20;
  std::string size = "20GiB";  // Limit for all kept folders together.
  double days = 30;
};

// True if XLA's allocator has written one there. It also does for a request that succeeded later.
bool has_memory_dumps_in(const std::string& folder);

// Not thread-safe; use it from one thread.
class Flight {
 public:
  Flight(const FlightOptions& options, std::string name, std::string recording);
  ~Flight();
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  // Creates the folder. If that fails, a line on stderr says why, and nothing is kept. Nothing is kept either if it is
  // disabled.
  void open();
  void open_attached();  // The same for a job that is already running.
  bool is_open() const { return !folder_.empty(); }
  StderrTail& stderr_tail() { return stderr_; }
  // The value for TF_BFC_MEMORY_DUMP. Empty means that it isn't set.
  std::string memory_dump_prefix() const;
  bool has_dumps() const { return has_memory_dumps_in(folder_); }

  void note(const std::vector<serve::Failure>& failures, bool is_recording);
  // The job has ended with this status of waitpid(). `has_recording`: something was recorded.
  void finish(int status, bool has_recording);
  // hbmscope detached from the job, or it ended with an unknown exit code.
  void finish_attached(bool has_ended);

 private:
  void finish_notes(bool has_recording);
  void begin_note(const std::string& text, bool has_recording);
  void write_line(const std::string& text);
  void keep_stderr();
  void remove_folder();

  FlightOptions options_;
  std::string name_, recording_, base_, folder_;
  StderrTail stderr_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::vector<std::chrono::steady_clock::time_point> noted_;
  std::uint64_t unnoted_ = 0, tails_ = 0, kept_bytes_ = 0;
  bool has_link_ = false, has_notes_ = false, is_attached_ = false;
  int lock_ = -1;
};

// Removes folders beyond the limits of the options, oldest first, except `own` and those that other runs have open. It
// deletes only files that a flight recorder writes; a folder with other files stays.
void prune_flights(const FlightOptions& options, const std::string& base, const std::string& own);

// Removes the empty folders of runs whose hbmscope was killed.
void remove_abandoned_flights(const std::string& base);

}  // namespace hbmscope::cli
