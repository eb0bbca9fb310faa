#include "app/cli/jobs/watched_processes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "collector/attach/job_memory.h"
#include "collector/attach/permission.h"
#include "collector/attach/visible_memory.h"
#include "collector/serve/proc_file.h"

namespace hbmscope::cli {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::milliseconds first_patience = 50ms, usual_patience = 1s, longest_patience = 5s;
constexpr std::size_t processes_max = 1024, named_max = 3, many_processes = 64;

std::string proc_path(pid_t process, std::string_view rest) {
  return fmt::format("/proc/{}/{}", process, rest);
}

std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  for (const pid_t thread : serve::list_proc_numbers(proc_path(process, "task"))) {
    std::istringstream numbers(serve::read_proc_file(proc_path(process, fmt::format("task/{}/children", thread))));
    for (pid_t child = 0; numbers >> child;) children.push_back(child);
  }
  return children;
}

bool is_of_another(pid_t process) {
  struct stat entry {};
  return stat(proc_path(process, "").c_str(), &entry) == 0 && entry.st_uid != geteuid();
}

// "python3 train.py"
std::string short_command_of(pid_t process) {
  std::istringstream words(serve::read_masked_command_line(process));
  std::string program, argument;
  words >> program >> argument;
  std::string name(file_name_of(program));
  if (!argument.empty() && argument.front() != '-') name += fmt::format(" {}", file_name_of(argument));
  return name;
}

bool is_driver(std::string_view file) {
  return file.starts_with("libcuda.so") || file.starts_with("libamdhip64.so");
}

using Pids = std::map<std::string, std::vector<pid_t>>;  // By the processes' name.

// "python3 train.py (4 processes), sh (4711) and 2 more"
std::string joined(const Pids& processes) {
  std::string text;
  std::size_t named = 0;
  for (const auto& [name, pids] : processes) {
    if (named == named_max) break;
    const bool is_last = ++named == processes.size();
    text += named == 1 ? "" : is_last ? " and " : ", ";
    text += pids.size() == 1 ? fmt::format("{} ({})", name, pids.front())
                             : fmt::format("{} ({} processes)", name, text_from_count(pids.size()));
  }
  if (processes.size() > named) text += fmt::format(" and {} more", text_from_count(processes.size() - named));
  return text;
}

}  // namespace

void WatchedProcesses::look_at(pid_t process, Process& seen) const {
  const std::vector<attach::Mapping> mappings = attach::read_mappings(process);
  if (mappings.empty()) {  // It has ended, or belongs to another user.
    seen.is_of_other_user = is_of_another(process);
    if (seen.is_of_other_user) seen.name = short_command_of(process);
    seen.has_ended = access(proc_path(process, "").c_str(), F_OK) != 0;
    return;
  }
  seen.name = short_command_of(process);
  seen.driver.clear();
  seen.has_collector = false;
  bool has_loader = false, has_musl = false;
  for (const attach::Mapping& mapping : mappings) {
    const std::string_view file = file_name_of(mapping.path);
    seen.has_collector = seen.has_collector || file.starts_with("libhbmscope_collector");
    has_loader = has_loader || file.starts_with("ld-");
    has_musl = has_musl || file.starts_with("ld-musl-") || file.starts_with("libc.musl-");
    if (seen.driver.empty() && is_driver(file)) seen.driver = file;
  }
  const std::string environment = serve::read_proc_file(proc_path(process, "environ"));
  seen.obstacle = Obstacle::none;
  if (!seen.has_collector) {
    if (!has_loader)
      seen.obstacle = Obstacle::is_static;
    else if (has_musl)
      seen.obstacle = Obstacle::has_other_c_library;
    else if (attach::find_variable(environment, "LD_PRELOAD").value_or("").find("libhbmscope_collector") ==
             std::string_view::npos)
      seen.obstacle = Obstacle::lacks_preload;
  } else if (is_of_another(process)) {
    seen.obstacle = Obstacle::is_other_user;
  } else if (attach::read_status(process).filters() > attach::read_status(getpid()).filters()) {
    seen.obstacle = Obstacle::is_in_sandbox;
  }
  if (seen.frameworks.empty() && !seen.driver.empty()) seen.frameworks = attach::find_frameworks(process, mappings);
  seen.visible =
      attach::text_from_visible(attach::find_visible_memory(mappings, environment, seen.frameworks, false), "");
}

void WatchedProcesses::look(pid_t job, std::size_t reported) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_round_) return;
  next_round_ = now + first_patience;
  if (processes_.size() > processes_max)
    std::erase_if(processes_, [](const auto& one) { return one.second.has_ended && one.second.driver.empty(); });
  const bool has_news = reported != std::exchange(reported_, reported);
  processes_[job];
  // A process whose parent has ended is still looked at. The more there are, the more rarely.
  const auto patience_max = std::clamp<std::chrono::milliseconds>(longest_patience * processes_.size() / many_processes,
                                                                  usual_patience, longest_patience);
  std::vector<pid_t> due;
  for (const auto& [pid, seen] : processes_)
    if (!seen.has_ended && (now >= seen.next_look || (has_news && seen.driver.empty()))) due.push_back(pid);
  while (!due.empty()) {
    const pid_t process = due.back();
    due.pop_back();
    Process& seen = processes_[process];
    look_at(process, seen);
    seen.patience = std::clamp(2 * seen.patience, first_patience, patience_max);
    seen.next_look = now + seen.patience;
    for (const pid_t child : children_of(process)) {
      const auto known = processes_.find(child);
      if (known != processes_.end() && !known->second.has_ended) continue;
      if (known == processes_.end() && processes_.size() > processes_max) continue;
      processes_[child] = {};
      processes_[child].parent = process;
      due.push_back(child);
    }
  }
}

bool WatchedProcesses::is_part_of_watched(const Process& process, const std::vector<pid_t>& reported) const {
  const auto is_reported = [&](pid_t pid) {
    return std::find(reported.begin(), reported.end(), pid) != reported.end();
  };
  for (const Process* one = &process; one->has_collector && one->parent != 0;) {
    const auto parent = processes_.find(one->parent);
    if (parent == processes_.end() || parent->second.name != one->name) return false;
    if (is_reported(parent->first)) return true;
    one = &parent->second;
  }
  return false;
}

std::vector<std::string> WatchedProcesses::sentences_on_unseen(const std::vector<pid_t>& reported,
                                                               bool is_driver_preloaded) const {
  std::map<std::string, Pids> by_reason;
  for (const auto& [pid, process] : processes_) {
    const bool is_reported = std::find(reported.begin(), reported.end(), pid) != reported.end();
    if (process.driver.empty() || is_reported || is_part_of_watched(process, reported)) continue;
    if (is_driver_preloaded && process.has_collector && process.obstacle == Obstacle::none)
      continue;  // As each has it.
    const std::string_view reason = [&] {
      switch (process.obstacle) {
        case Obstacle::is_static: return "statically linked, so hbmscope's library can't be loaded";
        case Obstacle::has_other_c_library: return "its C library is not glibc";
        case Obstacle::lacks_preload:
          return "started without hbmscope's LD_PRELOAD, as env -i, sudo and some launchers do";
        case Obstacle::is_other_user:
          return "it changed to another user, who may not use hbmscope's socket; start hbmscope as that user";
        case Obstacle::is_in_sandbox: return "in a sandbox (seccomp), which could kill it for being observed";
        default: break;
      }
      return process.has_collector ? "no call that allocates memory reached hbmscope: it made none, or it loaded the "
                                     "driver with RTLD_DEEPBIND or dlmopen"
                                   : "hbmscope's library was not loaded";
    }();
    by_reason[std::string(reason)][process.name].push_back(pid);
  }
  std::vector<std::string> sentences;
  for (const auto& [reason, names] : by_reason)
    sentences.push_back(fmt::format("not watched, though the driver was loaded: {} ({})", joined(names), reason));
  return sentences;
}

std::vector<std::string> WatchedProcesses::sentences(const std::vector<pid_t>& reported,
                                                     bool is_driver_preloaded) const {
  std::vector<std::string> sentences;
  std::map<std::string, Pids> by_what;
  Pids without_driver, of_others;
  for (const auto& [pid, process] : processes_) {
    if (process.name.empty()) continue;
    if (std::find(reported.begin(), reported.end(), pid) != reported.end()) {
      if (!process.visible.empty()) by_what[process.visible][process.name].push_back(pid);
    } else if (process.is_of_other_user) {
      of_others[process.name].push_back(pid);
    } else if (process.driver.empty()) {
      without_driver[process.name].push_back(pid);
    }
  }
  for (const auto& [what, names] : by_what) sentences.push_back(fmt::format("watched: {}: {}", joined(names), what));
  for (std::string& sentence : sentences_on_unseen(reported, is_driver_preloaded))
    sentences.push_back(std::move(sentence));
  if (reported.empty() && !of_others.empty())
    sentences.push_back(fmt::format("not watched: {}, of another user", joined(of_others)));
  const bool is_one = without_driver.size() == 1 && without_driver.begin()->second.size() == 1;
  if (reported.empty() && sentences.empty() && !without_driver.empty())
    sentences.push_back(
        fmt::format("{} {} not seen to load a GPU driver (libcuda.so.1, libamdhip64.so). Is it running on the CPU? Ask "
                    "JAX with jax.devices(), PyTorch with torch.cuda.is_available()",
                    joined(without_driver), is_one ? "was" : "were"));
  return sentences;
}

std::vector<pid_t> find_children(pid_t process) {
  return children_of(process);
}

std::string text_from_processes(const std::vector<pid_t>& processes) {
  Pids by_name;
  for (const pid_t process : processes) {
    const std::string name = short_command_of(process);
    by_name[name.empty() ? "process" : name].push_back(process);  // Empty: it has ended.
  }
  return joined(by_name);
}

}  // namespace hbmscope::cli
