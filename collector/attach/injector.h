// Loads the collector into a process that was started without it (x86-64, glibc), without risk to that process. One
// thread of the job is stopped for some tens of microseconds, its registers are set once, and it is released;
// everything else happens inside the job, in a separate thread. The attaching process may be killed at any time, and
// the job goes on.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "collector/attach/permission.h"

namespace hbmscope::attach {

struct Injection {
  pid_t process = 0;
  std::string library, observer;  // Paths as that process sees them.
  bool leaves_cupti = false;      // For the job's own profilers; then no back end reports CUDA driver calls.
  // For tests of what happens to the job when the attaching process dies: called with the name of each step.
  void (*at_step)(const char* step) = nullptr;
};

// Returns when the collector has connected to the observer, which must be serving meanwhile; so this runs in a separate
// process (InjectionProcess). Returns no value on success, otherwise the reason.
std::optional<Refusal> inject(const Injection& injection);

// Runs inject() in a child process. If the child dies, everything it holds is released.
class InjectionProcess {
 public:
  explicit InjectionProcess(const Injection& injection);
  ~InjectionProcess();  // Kills it if it still runs.
  InjectionProcess(const InjectionProcess&) = delete;
  InjectionProcess& operator=(const InjectionProcess&) = delete;

  // Does not wait. True: it has finished, and `refusal` has the result.
  bool is_over();
  const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  pid_t child_ = -1;
  int pipe_ = -1;
  std::string said_;
  std::optional<Refusal> refusal_;
  bool is_over_ = false;
};

}  // namespace hbmscope::attach
