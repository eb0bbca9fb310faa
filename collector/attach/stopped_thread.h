// One thread of another process, stopped by ptrace. It continues when this object is destroyed, or when our process
// ends.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <vector>

namespace hbmscope::attach {

class StoppedThread {
 public:
  explicit StoppedThread(pid_t thread);
  ~StoppedThread();
  StoppedThread(const StoppedThread&) = delete;
  StoppedThread& operator=(const StoppedThread&) = delete;

  bool is_stopped() const { return is_stopped_; }
  bool is_forbidden() const { return is_forbidden_; }
  bool is_group_stop() const { return is_group_stop_; }  // The whole job is stopped (SIGSTOP).
  // We trace the thread, but it did not stop in time: the caller must end its process, which releases the thread.
  bool is_stuck() const { return is_seized_ && !is_stopped_ && !is_gone_; }

  bool get_registers(user_regs_struct& registers) const;
  bool set_registers(const user_regs_struct& registers) const;
  // Works even where the job itself may only execute. Writes whole words.
  bool write_code(std::uint64_t address, const std::vector<std::uint8_t>& bytes) const;

 private:
  void wait();

  pid_t thread_;
  bool is_seized_ = false, is_stopped_ = false, is_gone_ = false, is_group_stop_ = false, is_forbidden_ = false;
};

}  // namespace hbmscope::attach
