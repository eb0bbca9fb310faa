// Brings the collector into a process that was started without it (x86-64, glibc), and never harms it: one thread of
// the job is stopped for some tens of microseconds, set on its way once, and let go; all else happens in the job, in a
// thread of its own. Whoever does this may be killed at any moment: the job goes on.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "collector/attach/permission.h"

namespace hbmscope::attach {

struct Injection {
  pid_t process = 0;
  std::string library, observer;  // Paths as that process sees them.
  bool leaves_cupti = false;      // For the job's own profilers; then nobody tells of the CUDA driver's calls.
  // Where it is tested what becomes of the job when we die there: called with the name of each step.
  void (*at_step)(const char* step) = nullptr;
};

// Returns when the collector has connected to the observer, who must be serving meanwhile: so this is done in a process
// of its own (InjectionProcess). Nothing, or why not.
std::optional<Refusal> inject(const Injection& injection);

// inject() in a child process, whose death sets free whatever it holds.
class InjectionProcess {
 public:
  explicit InjectionProcess(const Injection& injection);
  ~InjectionProcess();  // Kills it where it still runs.
  InjectionProcess(const InjectionProcess&) = delete;
  InjectionProcess& operator=(const InjectionProcess&) = delete;

  // Does not wait. True: it is over, and `refusal` tells how.
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
