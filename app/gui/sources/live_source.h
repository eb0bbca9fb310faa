// A running job as a source: reads the link on a thread of its own and keeps the growing trace. It never waits for the
// views: a version of the trace is handed out when one is wanted, and only then.
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

// What the observer reported last, and what follows from it.
struct LiveStatus {
  link::Status report;
  double events_per_second = 0;     // Over the last second or so.
  double behind_seconds = 0;        // What comes next was recorded so long ago; 0: nothing waits.
  std::uint64_t waiting_bytes = 0;  // Of blocks that were recorded and have not come.
  std::uint64_t file_bytes = 0;     // Of events that memory has no room for.
  std::chrono::steady_clock::time_point reported_at;

  bool is_far_behind() const { return behind_seconds > 5; }
};

// How a link ended, and what had been lost until then.
struct EndedLive {
  std::string words;  // "The job has ended."
  std::uint64_t lost_events = 0;
};

class LiveSource {
 public:
  using Version = std::shared_ptr<const Trace>;
  struct Sinks {  // Called from its thread.
    std::function<void(Version)> version;
    std::function<void(const LiveStatus&)> status;
    // Of another machine: the line to it is lost, or back. Or memory can't be kept to its limit.
    std::function<void(std::string)> news;
    // The link has ended, with all that there is; `wrong` is empty where the observer has hung up. Null: nothing came.
    std::function<void(Version, std::string wrong)> end;
  };
  LiveSource(const std::string& name, const std::string& socket, const LiveOptions& options, Sinks sinks);
  ~LiveSource();  // Hangs up.
  LiveSource(const LiveSource&) = delete;
  LiveSource& operator=(const LiveSource&) = delete;

  // One version, as soon as there is something new.
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
  std::atomic<link::RequestKind> asked_{};
  std::uint64_t changes_handed_out_ = 0;
  LiveStatus before_;
  double rate_ = 0;
  view::Lag lag_;
  bool has_reported_file_ = false;
  bool is_from_now_;
  bool has_ended_ = false;  // The job, as the observer reported.
  std::thread thread_;
};

}  // namespace hbmscope::gui
