// Whether a process can be attached to, and if not, why and what helps. Only reads /proc; does not touch the process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace hbmscope::attach {

struct Refusal {
  std::string what, remedy;
  bool is_starting = false;  // The process may be about to become ready: ask again in a moment.
};

// What /proc reports about a process, read through one of its threads.
struct ProcessStatus {
  bool exists = false;
  bool has_memory = false;  // False for kernel threads and for processes that have ended.
  char state = '?';         // R S D T t Z, as /proc has it.
  std::uint32_t uid = 0;
  pid_t parent = 0, tracer = 0;
  int seccomp = 0;  // 0: none, 1: strict, 2: filters.
  int seccomp_filters = 0;
  // Kernels before 5.9 report only that there are some.
  int filters() const { return seccomp_filters > 0 ? seccomp_filters : seccomp != 0 ? 1 : 0; }
  bool has_shadow_stack = false;
};
ProcessStatus read_status(pid_t process);

// What the system says about processes; a test has its own.
struct SystemFiles {
  std::string yama = "/proc/sys/kernel/yama/ptrace_scope";
  std::string thread_position = "syscall";  // In the folder of a process: where its thread is.
};

Refusal refusal_of_other_machines();  // The injected code is for x86-64.
std::optional<Refusal> find_refusal(pid_t process, const SystemFiles& files = {});
// The same for a process that may have just been started: waits up to two seconds until it can be judged.
std::optional<Refusal> find_refusal_once_started(pid_t process);

}  // namespace hbmscope::attach
