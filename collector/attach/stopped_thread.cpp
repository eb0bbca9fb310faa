#include "collector/attach/stopped_thread.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

namespace hbmscope::attach {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds stop_limit{2'000};  // It has to be scheduled first.
constexpr std::chrono::microseconds look_again{10};

}  // namespace

StoppedThread::StoppedThread(pid_t thread) : thread_(thread) {
  if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
    is_forbidden_ = errno == EPERM;
    return;
  }
  is_seized_ = true;
  if (ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0) wait();
}

StoppedThread::~StoppedThread() {
  if (is_stopped_) ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
}

bool StoppedThread::get_registers(user_regs_struct& registers) const {
  return ptrace(PTRACE_GETREGS, thread_, nullptr, &registers) == 0;
}

bool StoppedThread::set_registers(const user_regs_struct& registers) const {
  return ptrace(PTRACE_SETREGS, thread_, nullptr, &registers) == 0;
}

bool StoppedThread::write_code(std::uint64_t address, const std::vector<std::uint8_t>& bytes) const {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(long)) {
    long word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof(word), bytes.size() - at));
    if (ptrace(PTRACE_POKEDATA, thread_, address + at, word) != 0) return false;
  }
  return true;
}

void StoppedThread::wait() {
  for (const auto until = Clock::now() + stop_limit; Clock::now() < until;) {
    int status = 0;
    const pid_t found = waitpid(thread_, &status, __WALL | WNOHANG);
    if (found < 0 || (found == thread_ && !WIFSTOPPED(status))) {
      is_gone_ = true;
      return;
    }
    if (found == 0) {
      std::this_thread::sleep_for(look_again);
      continue;
    }
    if (status >> 16 == PTRACE_EVENT_STOP) {
      is_stopped_ = true;
      is_group_stop_ = WSTOPSIG(status) != SIGTRAP;
      return;
    }
    ptrace(PTRACE_CONT, thread_, nullptr, static_cast<long>(WSTOPSIG(status)));  // The job's own signal is passed on.
  }
}

}  // namespace hbmscope::attach
