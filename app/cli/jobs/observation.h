// Shared by run, demo and attach: observes processes, records them and serves viewers. Not thread-safe; use it from one
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/model/result.h"
#include "app/cli/jobs/device_sampler.h"
#include "app/cli/jobs/listen.h"
#include "collector/serve/observer.h"
#include "collector/serve/recorder.h"
#include "collector/serve/viewer_port.h"

namespace hbmscope::cli {

// What to do when open_sockets() fails.
constexpr const char* remedy_without_sockets = "Set XDG_RUNTIME_DIR to a folder that only you can enter.";

class Observation {
 public:
  Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  // Checks that the recording's file can be written. A file at that path is replaced only when the recording starts.
  // Returns what failed.
  std::optional<Error> open_file(const std::string& recording, serve::RecordingName name);
  // Opens both sockets. `jobs_folder`: where jobs of user `uid` find the observer; empty: where jobs started by it find
  // it. Returns nothing, or the reason why it failed; then the file that open_file() created is gone.
  std::optional<std::string> open_sockets(const std::string& jobs_folder = {}, std::uint32_t uid = 0);
  // Both. If it fails, prints the error and returns the exit code.
  std::optional<int> open(const std::string& recording, serve::RecordingName name, const std::string& jobs_folder = {},
                          std::uint32_t uid = 0);
  // With --listen, also serves viewers over TCP; call it after open(). If it fails, prints the error, undoes open() and
  // returns the exit code.
  std::optional<int> listen(const ListenOptions& options);
  std::optional<std::string> start_recording();
  // An error of the file is printed when it occurs, and the job continues.
  void start_recording_with_first_process();
  // Replaces a file at `path`. Returns nothing, or the reason why it failed.
  std::optional<std::string> rename_recording(const std::string& path);
  // Removes the file that open() created, if nothing was written to it.
  void remove_empty_recording() const;
  // A file existed at the recording's path before open(). It is still there if nothing was recorded.
  bool was_there() const { return was_there_; }

  // From now on a thread reads the totals of devices while any process may hold device memory.
  void watch_devices() { watches_devices_ = true; }
  // Waits briefly for events, receives them and sends to viewers. `flags`: of link::status_flag.
  void serve(std::uint32_t flags);
  // The last round: closes every stream and sends the rest to viewers.
  void finish(std::uint32_t flags);
  // Whether a viewer requested a detach since the last call.
  bool take_detach_request();
  // The signal that a viewer requested for the job since the last call. 0 if there is none.
  int take_requested_signal();
  void set_exit_code(std::int32_t code) { exit_code_ = code; }  // The exit code of the job that has ended.

  bool is_recording() const { return recorder_.is_recording(); }
  serve::Observer& observer() { return observer_; }
  const serve::Observer& observer() const { return observer_; }
  const std::string& recording() const { return recording_path_; }
  const std::string& viewer_socket() const { return port_.socket_path(); }
  // Prints rejected processes and viewers, and what was recorded, to standard error. False if no process reported
  // anything.
  bool print_summary(bool has_failures = false) const;

 private:
  void begin_recording();  // For start_recording_with_first_process().
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
  bool was_there_ = false, detach_requested_ = false, watches_devices_ = false, has_all_come_ = false;
  int requested_signal_ = 0;
  std::optional<std::int32_t> exit_code_;
};

}  // namespace hbmscope::cli
