#include "collector/inject/line.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace hbmscope::inject {
namespace {

std::atomic<bool> is_silent{false};

// The kernel's signal set. The system calls themselves are used because glibc moved pthread_sigmask() in 2.32.
using Signals = std::uint64_t;
constexpr Signals bit_of(int signal) {
  return Signals{1} << (signal - 1);
}

// Writing can end the job: its standard error may be a pipe that nobody reads any more (SIGPIPE), or a file at its size
// limit (SIGXFSZ). Such a signal is taken back, unless the job had one pending itself.
class WithoutWriteSignals {
 public:
  WithoutWriteSignals() {
    const Signals blocked = of_writing_;
    Signals pending = 0;
    syscall(SYS_rt_sigpending, &pending, sizeof(pending));
    to_take_ = of_writing_ & ~pending;
    is_blocked_ = syscall(SYS_rt_sigprocmask, SIG_BLOCK, &blocked, &before_, sizeof(before_)) == 0;
  }
  ~WithoutWriteSignals() {
    if (!is_blocked_) return;
    const timespec at_once{};
    while (to_take_ != 0 && syscall(SYS_rt_sigtimedwait, &to_take_, nullptr, &at_once, sizeof(to_take_)) > 0) {
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof(before_));
  }
  WithoutWriteSignals(const WithoutWriteSignals&) = delete;
  WithoutWriteSignals& operator=(const WithoutWriteSignals&) = delete;
  bool are_blocked() const { return is_blocked_; }

 private:
  static constexpr Signals of_writing_ = bit_of(SIGPIPE) | bit_of(SIGXFSZ);
  Signals before_ = 0, to_take_ = 0;
  bool is_blocked_ = false;
};

}  // namespace

void be_silent() {
  is_silent.store(true, std::memory_order_relaxed);
}

void say(const Line& line) {
  if (is_silent.load(std::memory_order_relaxed)) return;
  Line whole;
  whole.add("hbmscope: ").add(line.text).add("\n");
  const WithoutWriteSignals guard;
  if (!guard.are_blocked()) return;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, whole.text, std::strlen(whole.text));
}

}  // namespace hbmscope::inject
