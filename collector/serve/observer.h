// Waits for the processes of a job to connect, drains their rings, and passes on the blocks of their streams.
// Everything happens in serve(), on the caller's thread, except for naming functions (frame_namer.h). What a job wrote
// before it was killed is drained too.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collector/link/meeting_place.h"
#include "collector/serve/process_drain.h"

namespace hbmscope::serve {

class Observer {
 public:
  using Sink = std::function<void(wire::SharedBlock)>;
  explicit Observer(Sink sink) : sink_(std::move(sink)) {}
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  // Opens a socket in a folder that only this user can enter (collector/link/meeting_place.h).
  // Returns no value on success, otherwise the reason.
  std::optional<std::string> open();
  // The same in another folder, for a job that does not see that one; `uid` becomes the owner of the socket.
  std::optional<std::string> open_in(const std::string& folder, std::uint32_t uid);
  // The environment variable with which a job finds this observer, and its value, a path.
  static constexpr const char* variable = wire::observer_variable;
  const std::string& socket_path() const { return path_; }

  // Waits until a process connects, a ring fills, or the time is over (999 ms at most), then drains once.
  void serve(int wait_ms);
  // Observes a process without loading anything into it: records only what note_devices() reports about it, until it
  // ends or detach() is called. Returns no value on success, otherwise the reason.
  std::optional<std::string> watch_totals_of(std::int64_t pid);
  // Detaches from all processes that were attached to, or whose totals are watched. Call serve() until none is left.
  void detach();
  bool is_attached() const;  // Whether a process is still attached, or its totals are watched.
  // The last round: drains everything and closes every stream. Waits for function names, ten seconds at most.
  void finish();

  // Keyframes of all processes, including ended ones: what a viewer needs to start with the next blocks. Closes the
  // current blocks. Empty if too many processes have ended with too much state.
  std::vector<wire::SharedBlock> make_keyframes();

  // Records what the driver reports about its devices now, in the streams of those processes that may hold device
  // memory.
  void note_devices(std::span<const DeviceTotals> devices);

  struct Process {
    std::uint32_t stream = 0;
    std::int64_t pid = 0;
    std::uint64_t events = 0, lost = 0, stacks_lost = 0;
    bool is_broken = false;
    bool has_sandbox = false;  // It has set up a sandbox (seccomp): what it forks from then on is not observed.
  };
  std::vector<Process> processes() const;
  std::vector<std::int64_t> running() const;  // Those of them that have not ended.
  // Records that they go on unobserved: the observation ends before they do.
  void note_left_running();
  struct Totals {
    std::uint32_t processes = 0;
    std::uint64_t events = 0, lost = 0;
    bool may_hold_memory = false;     // True if one of the live processes may hold device memory.
    std::uint64_t refusals = 0;       // By the driver, to live processes.
    std::uint32_t pending = 0;        // Refused requests that may still be retried.
    std::uint64_t pending_bytes = 0;  // The size of the largest of them.
  };
  Totals totals() const;  // Over all processes; cheap enough for every round.
  // Failures of all processes since the last call, in the order in which they were found.
  std::vector<Failure> take_failures() { return std::exchange(failures_, {}); }
  // How the CUDA driver calls of a process that was attached to are recorded.
  struct DriverCalls {
    std::int64_t pid = 0;
    bool are_recorded = false, may_be_recorded_later = false;
    std::string sentence;  // "CUDA driver calls are recorded with CUPTI (...)"; without a full stop.
  };
  // Those that changed since the last call.
  std::vector<DriverCalls> take_driver_calls();
  // Processes that were refused, and why: "process 4711: its collector is of another version".
  const std::vector<std::string>& refused() const { return refused_; }

 private:
  struct Job {
    Process process;
    std::unique_ptr<ProcessDrain> drain;           // Null: the process has ended, and everything it wrote was drained.
    bool is_over = false;                          // The process has ended, but function names may still come.
    std::vector<wire::SharedBlock> last_keyframe;  // For an ended process.
    int link = -1;                                 // For a process that was attached to.
    bool is_left_alone = false;                    // Only its totals are watched, as long as it lives.
  };
  static Process process_of(const Job& job);
  Job begin_job(std::int64_t pid, std::uint32_t user, std::unique_ptr<RingMemory> rings);
  void end_job(Job& job);
  static void close_job(Job& job);
  static void forget_process(Job& job);
  void drain(Job& job, bool is_last);
  static bool has_ended(const Job& job);

  using Clock = std::chrono::steady_clock;
  struct Silent {  // Has connected, but not yet identified itself.
    int connection = -1;
    link::Peer peer;
    Clock::time_point since;
  };
  enum class Heard { nothing_yet, all, all_and_stays };
  int accept_some();  // Returns how many connected.
  void hear();
  Heard take_in(int connection, const link::Peer& peer);
  std::vector<Silent>::iterator give_up(std::vector<Silent>::iterator one);
  void refuse(const std::string& why);

  Sink sink_;
  std::string path_;
  FrameNamer namer_;
  int listening_ = -1;
  std::vector<Silent> silent_;
  std::vector<Job> jobs_;
  bool is_out_of_files_ = false;
  std::int64_t next_round_ns_ = 0;  // When a ring may be a quarter full.
  std::vector<std::string> refused_;
  std::vector<Failure> failures_;
  std::uint64_t last_keyframe_bytes_ = 0;  // Total of all ended processes.
};

}  // namespace hbmscope::serve
