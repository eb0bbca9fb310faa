// Where a thread of another process may be borrowed to create a thread: not inside the C library, the loader or an
// allocator, whose locks it may hold, unless it sleeps in a system call that the kernel restarts.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/attach/job_memory.h"

namespace hbmscope::attach {

class SafePoints {
 public:
  SafePoints(const JobMemory& memory, const std::vector<Mapping>& mappings, const Modules& modules);

  // Marks code in which a thread must never be stopped: the code that an earlier attach placed there.
  void add_unsafe(std::uint64_t begin, std::uint64_t end) { unsafe_.emplace_back(begin, end); }

  // Where the stopped thread can continue afterwards. No value: it must not be borrowed here. `registers` are as the
  // tracer reads them; `thread` gives access to the thread's /proc files.
  struct Resume {
    std::uint64_t address = 0;
    std::uint64_t rax = 0;
  };
  std::optional<Resume> find_resume(pid_t thread, const user_regs_struct& registers) const;

  // Whether it is worth stopping that thread: it runs, or sleeps in a call that is restarted. Only looks from outside.
  // Worth::no for threads that block all signals: they belong to some library and may not do what others can (our own
  // thread is like that too).
  enum class Worth { no, sleeps, runs };
  Worth look_at(pid_t thread) const;

 private:
  void add_unsafe(const Module& module);
  bool is_unsafe(std::uint64_t address) const;
  bool has_interrupted_unsafe_code(std::uint64_t stack) const;
  bool is_in_restartable_sequence(pid_t thread, std::uint64_t address) const;

  const JobMemory& memory_;
  const std::vector<Mapping>& mappings_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> unsafe_;  // Begin and end, by address.
  bool only_main_ = false;                     // A sanitizer's own threads look like others, but can't create a thread.
  std::vector<std::uint64_t> signal_returns_;  // The return addresses of signal handlers.
};

}  // namespace hbmscope::attach
