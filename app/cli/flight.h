// The flight recorder of hbmscope run and attach: what is left of a job that went wrong, in a folder of its own.
//
//   20261122T040102Z-train.py-4711/
//     what_happened.txt   what went wrong, when, and how the job ended
//     recording.hbm       the recording: a second name of it, or a copy where that can't be
//     stderr-1.txt ...    the end of the job's standard error at each failure, and when it had ended
//     bfc_memory_dump_*   what XLA's allocator wrote (TF_BFC_MEMORY_DUMP)
//
// Of a job that was attached to there is no standard error, no dump and no exit code: they were set up before.
// The folder is there while the job runs and goes with it where nothing went wrong. Old ones go when a new one stays.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/observed_job.h"
#include "app/cli/stderr_tail.h"
#include "collector/serve/failure_watch.h"

namespace hbmscope::cli {

struct FlightOptions {
  bool is_off = false;
  bool on_exit = false;  // Also of a job that ends well.
  std::string folder;    // Empty: hbmscope/flights in XDG_STATE_HOME, else in ~/.local/state.
  std::size_t keep = 20;
  std::string size = "20GiB";  // Of all that are kept.
  double days = 30;
};

// One thread, the caller's.
class Flight {
 public:
  Flight(const FlightOptions& options, std::string name, std::string recording);
  ~Flight();
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  // Makes the folder. Where that can't be, or is not wanted, nothing is kept; a line on stderr says why.
  void open();
  void open_attached();  // Likewise, of a job that runs already.
  bool is_open() const { return !folder_.empty(); }
  StderrTail& stderr_tail() { return stderr_; }
  // What TF_BFC_MEMORY_DUMP is to say; empty: nothing.
  std::string memory_dump_prefix() const;

  void note(const std::vector<serve::Failure>& failures, bool is_recording);
  // The job has ended with this status (of waitpid). `has_recording`: something was recorded.
  void finish(int status, bool has_recording);
  // hbmscope detached from the job, or it ended with an unknown exit code.
  void finish_attached(bool has_ended);

 private:
  void finish_notes(bool has_recording);
  void begin_note(const std::string& text, bool has_recording);
  void write_line(const std::string& text);
  void keep_stderr();
  void remove_folder();
  bool has_dumps() const;

  FlightOptions options_;
  std::string name_, recording_, base_, folder_;
  StderrTail stderr_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::vector<std::chrono::steady_clock::time_point> noted_;
  std::uint64_t unnoted_ = 0, tails_ = 0, kept_bytes_ = 0;
  bool has_link_ = false, has_notes_ = false, is_attached_ = false;
  int lock_ = -1;
};

// Removes what is older or more than the options allow, the oldest first, but for `own` and for what other runs have
// open. Of each folder only files that a flight recorder writes; one with other files in it stays.
void prune_flights(const FlightOptions& options, const std::string& base, const std::string& own);

}  // namespace hbmscope::cli
