// A running job as a source: reads the link on its own thread and keeps the growing trace. It never waits for the
// views, and makes a version of the trace only when one is requested.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "analysis/read/recording/growing_trace.h"
#include "app/gui/sources/live_options.h"
#include "collector/view/lag.h"
#include "collector/view/live_link.h"

namespace hbmscope::gui {

// The observer's last report, and figures computed from it.
struct LiveStatus {
  link::Status report;
  double events_per_second = 0;     // Over about the last second.
  double behind_seconds = 0;        // The age of the next event to arrive. 0 if nothing is waiting.
  std::uint64_t waiting_bytes = 0;  // Bytes of recorded blocks that have not arrived.
  std::uint64_t file_bytes = 0;     // Bytes of events that were moved to a file because memory is full.
  std::chrono::steady_clock::time_point reported_at;

  bool is_far_behind() const { return behind_seconds > 5; }
};

// How a link ended, and how many events had been lost by then.
struct EndedLive {
  std::string words;  // "The job has ended."
  std::uint64_t lost_events = 0;
  bool runs_on = false;                        // The observer was detached.
  std::optional<std::int32_t> exit_code = {};  // As in a shell. Absent: unknown, or it has not ended.
};

class LiveSource {
 public:
  using Version = std::shared_ptr<const Trace>;
  struct Sinks {  // Called on its thread.
    std::function<void(Version)> version;
    std::function<void(const LiveStatus&)> status;
    // The connection to another machine was lost or restored, or memory can't be kept within its limit.
    std::function<void(std::string)> news;
    // The link has ended; the version has everything that arrived, or is null if nothing did. `wrong` is empty if the
    // observer closed the link.
    std::function<void(Version, std::string wrong)> end;
  };
  LiveSource(const std::string& name, const std::string& socket, const LiveOptions& options, Sinks sinks);
  ~LiveSource();  // Closes the link.
  LiveSource(const LiveSource&) = delete;
  LiveSource& operator=(const LiveSource&) = delete;

  // Requests one version, delivered as soon as there is something new.
  void want_version();
  void ask(link::RequestKind kind);

 private:
  void run(const std::string& socket);
  void follow();
  void note_status(const link::Status& report);

  GrowingTrace growing_;
  Sinks sinks_;
  view::LiveLink link_;
  std::atomic<bool> is_wanted_{true}, is_over_{false}, is_asked_{false};
  std::atomic<link::RequestKind> frames_requested_{};
  std::uint64_t changes_handed_out_ = 0;
  LiveStatus before_;
  double rate_ = 0;
  view::Lag lag_;
  bool has_reported_file_ = false;
  bool is_from_now_;
  bool has_ended_ = false;  // The job has ended, as reported by the observer.
  std::thread thread_;
};

}  // namespace hbmscope::gui
