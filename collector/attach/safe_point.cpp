#include "collector/attach/safe_point.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "collector/serve/proc_file.h"

namespace hbmscope::attach {
namespace {

constexpr std::uint64_t stack_bytes_max = std::uint64_t{1} << 20;
constexpr std::uint64_t code_bytes_max = std::uint64_t{64} << 20;
// mov $15 (rt_sigreturn), %rax; syscall: the code that a signal handler returns to (glibc's __restore_rt).
constexpr std::array<std::uint8_t, 9> signal_return_code{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

bool is_c_library(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const char* begin : {"libc.so", "libc-2", "ld-linux", "ld-2", "libpthread", "libdl"})
    if (name.starts_with(begin)) return true;
  return false;
}

// System calls that, according to signal(7), are restarted after a stop as if nothing had happened; a timeout
// continues. Excludes calls that may have been partly done (write, recv) and calls on sockets, which their timeouts
// end.
bool is_taken_up_again(long number, std::uint64_t argument1, std::uint64_t argument2) {
  switch (number) {
    case SYS_restart_syscall:  // One of these, with a timeout, that was stopped before.
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_wait4:
    case SYS_waitid: return true;
    case SYS_futex: {
      // A thread that waits for a lock expects 2 in the futex, and may hold another lock (an allocator's). Condition
      // variables, semaphores and joins do not use 2.
      constexpr std::uint64_t operation_mask = 0x7f, wait = 0, wait_bitset = 9, locked_with_waiters = 2;
      const std::uint64_t operation = argument1 & operation_mask;
      return (operation == wait_bitset || operation == wait) && argument2 != locked_with_waiters;
    }
    default: return false;
  }
}

// glibc uses signals 32 and 33 for cancelling threads and for changing users.
constexpr std::uint64_t glibc_signals = std::uint64_t{3} << 31;

std::string task_file(pid_t process, pid_t thread, const char* name) {
  return "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/" + name;
}

// Whether a signal is pending that the thread would handle: then its call ends and is not restarted.
bool has_signal_waiting(pid_t process, pid_t thread) {
  const std::string status = serve::read_proc_file(task_file(process, thread, "status"));
  const auto set = [&](const char* name) {
    return std::strtoull(serve::value_of_line(status, name).c_str(), nullptr, 16);
  };
  return ((set("SigPnd") | set("ShdPnd")) & ~set("SigBlk")) != 0;
}

}  // namespace

SafePoints::SafePoints(const JobMemory& memory, const std::vector<Mapping>& mappings, const Modules& modules)
    : memory_(memory), mappings_(mappings) {
  for (const Module& module : modules.all) {
    for (const char* begin : {"__tsan_init", "__asan_init", "__msan_init"})
      only_main_ = only_main_ || find_function(memory, module, begin) != 0;
    // A module that defines malloc is an allocator, or has one linked in, and everything calls it.
    if (is_c_library(module.name) || find_function(memory, module, "malloc") != 0) add_unsafe(module);
  }
}

// Read from the module's own headers, because a list of mappings may lack one.
void SafePoints::add_unsafe(const Module& module) {
  for (const Segment& segment : read_segments(memory_, module)) {
    if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0) continue;
    unsafe_.emplace_back(segment.begin, segment.begin + segment.bytes);
    if (segment.bytes > code_bytes_max) continue;  // Its handlers return to the C library like all others.
    std::vector<std::uint8_t> code(segment.bytes);
    if (!memory_.read(segment.begin, code.data(), code.size())) continue;
    for (auto at = code.begin();; ++at) {
      at = std::search(at, code.end(), signal_return_code.begin(), signal_return_code.end());
      if (at == code.end()) break;
      signal_returns_.push_back(segment.begin + static_cast<std::uint64_t>(at - code.begin()));
    }
  }
}

bool SafePoints::is_unsafe(std::uint64_t address) const {
  return std::any_of(unsafe_.begin(), unsafe_.end(),
                     [&](const auto& range) { return range.first <= address && address < range.second; });
}

// A handler runs on top of whatever the signal interrupted: if that was an allocator, its locks are held. Signal frames
// are found by the address that a handler returns to, and by what the kernel writes after it.
bool SafePoints::has_interrupted_unsafe_code(std::uint64_t stack) const {
  const Mapping* mapping = find_mapping(mappings_, stack);
  if (mapping == nullptr) return true;
  const std::uint64_t end = std::min(mapping->end, stack + stack_bytes_max);
  std::vector<std::uint64_t> words((end - stack) / 8);
  if (!memory_.read(stack, words.data(), words.size() * 8)) return true;
  constexpr std::size_t registers_at = offsetof(ucontext_t, uc_mcontext.gregs) / 8;
  constexpr std::uint64_t user_code_segment = 0x33;
  for (std::size_t i = 0; i + 1 + registers_at + NGREG <= words.size(); ++i) {
    if (std::find(signal_returns_.begin(), signal_returns_.end(), words[i]) == signal_returns_.end()) continue;
    const std::uint64_t* registers = &words[i + 1 + registers_at];
    const bool is_frame = (registers[REG_CSGSFS] & 0xffff) == user_code_segment;
    if (is_frame && is_unsafe(registers[REG_RIP])) return true;
  }
  return false;
}

// A restartable sequence (rseq(2)) that is interrupted would not be restarted after its registers were moved.
bool SafePoints::is_in_restartable_sequence(pid_t thread, std::uint64_t address) const {
  constexpr int get_configuration = 0x420f;  // PTRACE_GET_RSEQ_CONFIGURATION, Linux 5.13.
  struct Configuration {
    std::uint64_t area = 0;
    std::uint32_t size = 0, signature = 0, flags = 0, pad = 0;
  } configuration;
  if (ptrace(static_cast<__ptrace_request>(get_configuration), thread, sizeof(configuration), &configuration) < 0 ||
      configuration.area == 0)
    return false;
  const auto sequence = memory_.get<std::uint64_t>(configuration.area + 8);
  if (!sequence) return true;
  if (*sequence == 0) return false;
  const auto parts = memory_.get<std::array<std::uint64_t, 4>>(*sequence);  // Version, start, bytes, abort address.
  return !parts || address - (*parts)[1] < (*parts)[2];
}

std::optional<SafePoints::Resume> SafePoints::find_resume(pid_t thread, const user_regs_struct& registers) const {
  constexpr std::uint64_t user_code_segment = 0x33, syscall_bytes = 2;
  if (registers.cs != user_code_segment || registers.fs_base == 0) return std::nullopt;
  Resume resume{registers.rip, registers.rax};
  if (static_cast<std::int64_t>(registers.orig_rax) >= 0) {
    // The kernel's own numbers for how a call is restarted (include/linux/errno.h).
    constexpr std::int64_t restart_sys = -512, restart_no_intr = -513, restart_no_handler = -514, restart_block = -516;
    const auto result = static_cast<std::int64_t>(registers.rax);
    if (!is_taken_up_again(static_cast<long>(registers.orig_rax), registers.rsi, registers.rdx) ||
        has_signal_waiting(memory_.process(), thread))
      return std::nullopt;
    if (result == restart_sys || result == restart_no_intr || result == restart_no_handler)
      resume.rax = registers.orig_rax;
    else if (result == restart_block)
      resume.rax = SYS_restart_syscall;
    else
      return std::nullopt;
    resume.address -= syscall_bytes;
  } else if (is_unsafe(registers.rip)) {
    return std::nullopt;
  }
  if (is_in_restartable_sequence(thread, registers.rip) || has_interrupted_unsafe_code(registers.rsp))
    return std::nullopt;
  return resume;
}

SafePoints::Worth SafePoints::look_at(pid_t thread) const {
  if (only_main_ && thread != memory_.process()) return Worth::no;
  // All signals except those that can't be blocked, and the two that glibc reserves.
  constexpr std::uint64_t any = 0x7fffffff'00000000 | (std::uint64_t{1} << (SIGTERM - 1)) |
                                (std::uint64_t{1} << (SIGUSR1 - 1)) | (std::uint64_t{1} << (SIGSEGV - 1));
  const std::string status = serve::read_proc_file(task_file(memory_.process(), thread, "status"));
  const std::uint64_t blocked = std::strtoull(serve::value_of_line(status, "SigBlk").c_str(), nullptr, 16);
  if ((blocked & any & ~glibc_signals) == (any & ~glibc_signals)) return Worth::no;
  std::istringstream text(serve::read_proc_file(task_file(memory_.process(), thread, "syscall")));
  std::string number, argument0, argument1, argument2;
  if (!(text >> number)) return Worth::no;
  if (number == "running") return Worth::runs;
  text >> argument0 >> argument1 >> argument2;
  const auto value = [](const std::string& word) { return std::strtoull(word.c_str(), nullptr, 16); };
  const long call = std::strtol(number.c_str(), nullptr, 10);
  return call >= 0 && is_taken_up_again(call, value(argument1), value(argument2)) ? Worth::sleeps : Worth::no;
}

}  // namespace hbmscope::attach
