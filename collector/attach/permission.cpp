#include "collector/attach/permission.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "collector/attach/job_memory.h"
#include "collector/serve/proc_file.h"

namespace hbmscope::attach {
namespace {

using serve::read_proc_file;
using serve::value_of_line;

std::string folder_of(pid_t process) {
  return "/proc/" + std::to_string(process);
}

int number_of(const std::string& text) {
  return static_cast<int>(std::strtol(text.c_str(), nullptr, 10));
}

// Whether we may trace every process (capability 19, CAP_SYS_PTRACE).
bool may_trace_all() {
  const std::string capabilities = value_of_line(read_proc_file("/proc/self/status"), "CapEff");
  return (std::strtoull(capabilities.c_str(), nullptr, 16) >> 19 & 1) != 0;
}

pid_t parent_of(pid_t process) {
  return number_of(value_of_line(read_proc_file(folder_of(process) + "/status"), "PPid"));
}

bool is_descendant(pid_t process) {
  for (; process > 1; process = parent_of(process))
    if (process == getpid()) return true;
  return false;
}

std::optional<Refusal> find_state_refusal(pid_t process, const ProcessStatus& status) {
  if (!status.exists) return Refusal{"there is no such process", "hbmscope ps lists jobs."};
  if (process == getpid()) return Refusal{"it is this hbmscope", "hbmscope ps lists jobs."};
  if (status.state == 'Z' || status.state == 'X') return Refusal{"it has ended", "hbmscope ps lists jobs."};
  if (!status.has_memory)
    return Refusal{"it has no program: it is a kernel thread, or is ending", "hbmscope ps lists jobs."};
  if (status.tracer != 0)
    return Refusal{"it is being debugged by process " + std::to_string(status.tracer) + " (" +
                       value_of_line(read_proc_file(folder_of(status.tracer) + "/status"), "Name") + ")",
                   "Only one debugger can be attached at a time; detach the other one first."};
  if (status.state == 'T')
    return Refusal{"it is stopped", "Continue it (kill -CONT " + std::to_string(process) + "), then attach."};
  return std::nullopt;
}

std::optional<Refusal> find_rights_refusal(pid_t process, const ProcessStatus& status, const SystemFiles& files) {
  if (!may_trace_all()) {
    if (status.uid != geteuid())
      return Refusal{"it belongs to another user (uid " + std::to_string(status.uid) + ")",
                     "Attach as that user, or with sudo."};
    const std::string yama = read_proc_file(files.yama);
    const int scope = number_of(yama);
    if (scope == 1 && !is_descendant(process))
      return Refusal{"this system lets only parent processes attach (yama ptrace_scope = 1)",
                     "Start the job with hbmscope run, attach with sudo, or ask an administrator for "
                     "sysctl kernel.yama.ptrace_scope=0."};
    if (scope == 2)
      return Refusal{"this system lets only administrators attach (yama ptrace_scope = 2)",
                     "Start the job with hbmscope run, or attach with sudo."};
  }
  if (number_of(read_proc_file(files.yama)) == 3)
    return Refusal{"this system lets nobody attach until the next reboot (yama ptrace_scope = 3)",
                   "Start the job with hbmscope run."};
  const int memory = open((folder_of(process) + "/mem").c_str(), O_RDWR | O_CLOEXEC);
  if (memory < 0)
    return Refusal{std::string("the kernel does not allow access to its memory (") + std::strerror(errno) +
                       "): it is not dumpable, or in a container or user namespace without the rights",
                   "Attach with sudo; inside a container, start the container with --cap-add SYS_PTRACE."};
  close(memory);
  return std::nullopt;
}

// Filters that it shares with the first process of its container belong to the container and allow what ordinary
// programs do. Its own filters are a sandbox that may kill it for a system call.
bool has_own_filters(pid_t process, const ProcessStatus& status) {
  const std::string first = read_proc_file(folder_of(process) + "/root/proc/1/status");
  return status.seccomp_filters > number_of(value_of_line(first, "Seccomp_filters"));
}

std::optional<Refusal> find_program_refusal(pid_t process, const ProcessStatus& status, const SystemFiles& files) {
#if !defined(__x86_64__)
  return refusal_of_other_machines();
#endif
  Elf64_Ehdr header{};
  const int program = open((folder_of(process) + "/exe").c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_read = program >= 0 && pread(program, &header, sizeof(header), 0) == ssize_t{sizeof(header)};
  if (program >= 0) close(program);
  if (!is_read) return Refusal{"cannot read its program", "It may be starting or ending. Try again.", true};
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) return refusal_of_other_machines();
  const JobMemory memory(process);
  const Modules modules = read_modules(memory);
  if (access((folder_of(process) + "/" + files.thread_position).c_str(), F_OK) != 0 && read_status(process).exists)
    return Refusal{"this system does not show where its threads are (no /proc/PID/syscall, as under gVisor)",
                   "Start the job with hbmscope run."};
  if (modules.interpreter.empty())
    return Refusal{
        "it is linked statically, so no library can be loaded into it",
        "Link a program annotated with collector/annotate/hbmscope.h dynamically; only device totals (--totals) work "
        "now."};
  if (modules.interpreter.find("ld-musl") != std::string::npos)
    return Refusal{"its C library is musl, and the collector needs glibc", "Use an image with glibc."};
  if (modules.all.empty()) return Refusal{"it is starting or ending", "Try again.", true};
  if (status.seccomp == 1 || (status.seccomp == 2 && has_own_filters(process, status)))
    return Refusal{"it is in a sandbox (seccomp), which could kill it when hbmscope attaches",
                   "Start the job without the sandbox."};
  if (status.has_shadow_stack)
    return Refusal{"it runs with a shadow stack", "Start it without one (GLIBC_TUNABLES=glibc.cpu.x86_shstk=off)."};
  return std::nullopt;
}

}  // namespace

Refusal refusal_of_other_machines() {
  return {"it is not a 64-bit x86-64 program", "Attaching needs x86-64; start the job with hbmscope run."};
}

ProcessStatus read_status(pid_t process) {
  const std::string text = read_proc_file(folder_of(process) + "/status");
  ProcessStatus status;
  // Threads also have such a file, but a thread's number is not a process.
  status.exists = !text.empty() && number_of(value_of_line(text, "Tgid")) == process;
  if (!status.exists) return status;
  status.has_memory = !value_of_line(text, "VmSize").empty();
  const std::string state = value_of_line(text, "State");
  if (!state.empty()) status.state = state[0];
  status.parent = number_of(value_of_line(text, "PPid"));
  status.uid = static_cast<std::uint32_t>(std::strtoul(value_of_line(text, "Uid").c_str(), nullptr, 10));
  status.tracer = number_of(value_of_line(text, "TracerPid"));
  status.seccomp = number_of(value_of_line(text, "Seccomp"));
  status.seccomp_filters = number_of(value_of_line(text, "Seccomp_filters"));
  status.has_shadow_stack = value_of_line(text, "x86_Thread_features").find("shstk") != std::string::npos;
  return status;
}

std::optional<Refusal> find_refusal(pid_t process, const SystemFiles& files) {
  const ProcessStatus status = read_status(process);
  if (auto refusal = find_state_refusal(process, status)) return refusal;
  if (auto refusal = find_rights_refusal(process, status, files)) return refusal;
  return find_program_refusal(process, status, files);
}

std::optional<Refusal> find_refusal_once_started(pid_t process) {
  constexpr std::chrono::milliseconds pause{20};
  constexpr int pauses_max = 100;
  std::optional<Refusal> refusal = find_refusal(process);
  for (int i = 0; i < pauses_max && refusal && refusal->is_starting; ++i) {
    std::this_thread::sleep_for(pause);
    refusal = find_refusal(process);
  }
  return refusal;
}

}  // namespace hbmscope::attach
