// What run, demo and attach have in common: processes are watched, recorded, and offered to viewers. One thread, the
// caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/cli/device_sampler.h"
#include "app/cli/listen.h"
#include "collector/serve/observer.h"
#include "collector/serve/recorder.h"
#include "collector/serve/viewer_port.h"

namespace hbmscope::cli {

class Observation {
 public:
  Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  // Tries the recording's file and opens both sockets. What lies at that path is replaced when the recording starts.
  // Where it failed: the text has been printed, and this is the exit code.
  // `jobs_folder`: where jobs find the observer, for `uid`; empty: where those that it starts do.
  std::optional<int> open(const std::string& recording, const std::string& jobs_folder = {}, std::uint32_t uid = 0);
  // Over TCP too, after open(), with --listen. Where it failed: as open(), and what that made is gone.
  std::optional<int> listen(const ListenOptions& options);
  std::optional<std::string> start_recording();
  // An error of the file is then printed, and the job continues.
  void start_recording_with_first_process();
  // Nothing, or why not, in words. What lies at that path is replaced.
  std::optional<std::string> rename_recording(const std::string& path);
  // What open() made and nothing was written to.
  void remove_empty_recording() const;
  // What lay at the recording's path before open() lies there still, where nothing was recorded since.
  bool was_there() const { return was_there_; }

  // From now on a thread reads the totals of devices, as long as some process may hold memory of them.
  void watch_devices() { watches_devices_ = true; }
  // Waits for events, a little while at most, takes in what came, and sends. `flags`: of link::status_flag.
  void serve(std::uint32_t flags);
  // The last round: every stream is closed, viewers get the rest.
  void finish(std::uint32_t flags);
  // Whether a viewer requested it since the last call.
  bool take_detach_request();
  // The signal for its job that a viewer requested since the last call; 0: none.
  int take_requested_signal();
  void set_exit_code(std::int32_t code) { exit_code_ = code; }  // Of the job, which has ended.

  bool is_recording() const { return recorder_.is_recording(); }
  serve::Observer& observer() { return observer_; }
  const serve::Observer& observer() const { return observer_; }
  const std::string& recording() const { return recording_path_; }
  const std::string& viewer_socket() const { return port_.socket_path(); }
  // Prints rejected processes and viewers, and what was recorded, on standard error. False: no process reported
  // anything.
  bool print_summary() const;

 private:
  void begin_recording();  // That was to be with the first process.
  void leave_second_name() const;
  link::Status status(std::uint32_t flags) const;
  void serve_viewers(std::uint32_t flags);
  void sample_devices();
  void wait_until_all_has_come(std::uint32_t flags);

  serve::Recorder recorder_;
  serve::Observer observer_;
  serve::ViewerPort port_;
  DeviceSampler devices_;
  std::uint64_t refusals_seen_ = 0;
  std::string recording_path_;
  bool was_there_ = false, is_busy_ = false, detach_requested_ = false, watches_devices_ = false, has_all_come_ = false;
  int requested_signal_ = 0;
  std::optional<std::int32_t> exit_code_;
};

}  // namespace hbmscope::cli
