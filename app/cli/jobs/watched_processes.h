// The processes of a job as they look from outside, so that the end of a run can say what was watched, and what could
// not be seen and why. Reads /proc, and stops nothing.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hbmscope::cli {

class WatchedProcesses {
 public:
  // Looks at a process and at those that it has started. Call it often: each process is looked at again after 50 ms,
  // then after twice that, up to some seconds. One that ended before is not known. `reported`: how many processes have
  // reported something; when that grows, what is known is out of date.
  void look(pid_t job, std::size_t reported);

  // Sentences for a person. `reported`: the processes of which something was recorded.
  std::vector<std::string> sentences(const std::vector<pid_t>& reported, bool is_driver_preloaded) const;

 private:
  enum class Obstacle : std::uint8_t {
    none,
    is_static,
    has_other_c_library,
    lacks_preload,
    is_in_sandbox,
    is_other_user
  };
  struct Process {
    std::string name;
    std::string driver;   // "libcuda.so.1". Empty if it has loaded none so far.
    std::string visible;  // What is seen of it: "pool of JAX (XLA's BFC), arrays by PJRT; driver calls".
    std::vector<std::string> frameworks;  // Looked for once it has a driver.
    bool has_collector = false;
    Obstacle obstacle = Obstacle::none;  // Why it isn't observed.
    pid_t parent = 0;
    bool has_ended = false, is_of_other_user = false;
    std::chrono::milliseconds patience{0};
    std::chrono::steady_clock::time_point next_look;
  };

  void look_at(pid_t process, Process& seen) const;
  // Made by fork() from a process that is watched, and calls nothing itself, as the workers of a data loader.
  bool is_part_of_watched(const Process& process, const std::vector<pid_t>& reported) const;
  std::vector<std::string> sentences_on_unseen(const std::vector<pid_t>& reported, bool is_driver_preloaded) const;

  std::map<pid_t, Process> processes_;
  std::size_t reported_ = 0;
  std::chrono::steady_clock::time_point next_round_;
};

std::vector<pid_t> find_children(pid_t process);
// "python3 train.py (4 processes), sh (4711) and 2 more"
std::string text_from_processes(const std::vector<pid_t>& processes);

}  // namespace hbmscope::cli
