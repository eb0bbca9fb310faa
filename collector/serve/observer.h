// Waits for the processes of a job to connect, drains their rings, and hands out the blocks of their streams. One
// thread, the caller's: nothing happens but in serve(); and one that names functions (frame_namer.h). What a job has
// written before it was killed is drained all the same.
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

#include "collector/serve/process_drain.h"

namespace hbmscope::serve {

class Observer {
 public:
  using Sink = std::function<void(wire::SharedBlock)>;
  explicit Observer(Sink sink) : sink_(std::move(sink)) {}
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  // A socket in a folder that only this user may enter (hbmscope in XDG_RUNTIME_DIR, else /tmp/hbmscope-UID). Nothing,
  // or why not, in words.
  std::optional<std::string> open();
  // The same in another folder, for a job that does not see that one; the socket is given to `uid`.
  std::optional<std::string> open_in(const std::string& folder, std::uint32_t uid);
  // What a job's environment must say for the job to find it: this variable, this path.
  static constexpr const char* variable = wire::observer_variable;
  const std::string& socket_path() const { return path_; }

  // Waits until somebody connects or the time is over, then drains once. True: so much has come that the next round
  // should not wait.
  bool serve(int wait_ms);
  // Of a process into which nothing is loaded: only what note_devices() tells of it, until it ends or detach().
  // Nothing, or why not, in words.
  std::optional<std::string> watch_totals_of(std::int64_t pid);
  // Lets go of those that were attached to, or whose totals are watched; serve() until none is left.
  void detach();
  bool is_attached() const;  // To any, still; or watches the totals of one.
  // The last round: all that there is, and every stream is closed. Waits for functions' names, ten seconds at most.
  void finish();

  // Of all processes, the ended ones too: what a viewer needs that goes on with the next blocks. Blocks at hand are
  // closed. Nothing where too many have ended with too much to tell.
  std::vector<wire::SharedBlock> make_keyframes();

  // What the driver says of its devices now, for the streams of those processes that may hold memory of them.
  void note_devices(std::span<const DeviceTotals> devices);

  struct Process {
    std::uint32_t stream = 0;
    std::int64_t pid = 0;
    std::uint64_t events = 0, lost = 0, stacks_lost = 0;
    bool is_broken = false;
  };
  std::vector<Process> processes() const;
  struct Totals {
    std::uint32_t processes = 0;
    std::uint64_t events = 0, lost = 0;
    bool may_hold_memory = false;     // Of a device: one of those that live.
    std::uint64_t refusals = 0;       // Of the driver, to those that live.
    std::uint32_t pending = 0;        // Requests that were refused and may be tried again still;
    std::uint64_t pending_bytes = 0;  // what the largest of them asked for.
  };
  Totals totals() const;  // Of all of them, for who asks with every round.
  // Failures of all processes since the last call, in the order in which they were found.
  std::vector<Failure> take_failures() { return std::exchange(failures_, {}); }
  // How the CUDA driver calls of a process that was attached to are recorded.
  struct DriverCalls {
    std::int64_t pid = 0;
    bool are_told = false, may_be_told_later = false;
    std::string sentence;  // "CUDA driver calls are recorded with CUPTI (...)"; without its full stop.
  };
  // Where that is other than at the last call.
  std::vector<DriverCalls> take_driver_calls();
  // Who was turned away, and why: "process 4711: its collector is of another version".
  const std::vector<std::string>& refused() const { return refused_; }

 private:
  struct Job {
    Process process;
    std::unique_ptr<ProcessDrain> drain;           // Null: the process has ended, and all that it wrote was drained.
    bool is_over = false;                          // It has, but functions' names may come still.
    std::vector<wire::SharedBlock> last_keyframe;  // Of one that has ended.
    int link = -1;                                 // Of one that was attached to.
    bool is_left_alone = false;                    // Its totals are watched, as long as it lives.
  };
  static Process told_of(const Job& job);
  Job begin_job(std::int64_t pid, std::unique_ptr<RingMemory> rings);
  void end_job(Job& job);
  static void close_job(Job& job);
  static void forget_process(Job& job);
  void drain(Job& job, bool is_last);
  static bool has_ended(const Job& job);

  using Clock = std::chrono::steady_clock;
  struct Silent {  // Has connected, and has not said who it is.
    int connection = -1;
    std::int64_t pid = 0;
    Clock::time_point since;
  };
  enum class Heard { nothing_yet, all, all_and_stays };
  int accept_some();  // Returns how many came.
  void hear();
  Heard take_in(int connection, std::int64_t pid);
  std::vector<Silent>::iterator give_up(std::vector<Silent>::iterator one);
  void refuse(const std::string& why);

  Sink sink_;
  std::string path_;
  FrameNamer namer_;
  int listening_ = -1;
  std::vector<Silent> silent_;
  std::vector<Job> jobs_;
  std::vector<std::string> refused_;
  std::vector<Failure> failures_;
  std::uint64_t last_keyframe_bytes_ = 0;  // Of all ended processes.
};

}  // namespace hbmscope::serve
