#include "app/cli/watched_processes.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "collector/attach/job_memory.h"
#include "collector/attach/visible_memory.h"
#include "collector/serve/proc_file.h"

namespace hbmscope::cli {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::milliseconds first_patience = 50ms, longest_patience = 5s;
constexpr std::size_t processes_max = 1024, named_max = 3;

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

// "python3 train.py"
std::string name_of(pid_t process) {
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
    if (seen.name.empty()) seen.obstacle = Obstacle::is_unreadable;
    return;
  }
  seen.name = name_of(process);
  seen.driver.clear();
  seen.has_collector = false;
  bool has_loader = false, has_glibc = false;
  for (const attach::Mapping& mapping : mappings) {
    const std::string_view file = file_name_of(mapping.path);
    seen.has_collector = seen.has_collector || file.starts_with("libhbmscope_collector");
    has_loader = has_loader || file.starts_with("ld-");
    has_glibc = has_glibc || file.starts_with("libc.so.6") || file.starts_with("libc-2.");
    if (seen.driver.empty() && is_driver(file)) seen.driver = file;
  }
  const std::string environment = serve::read_proc_file(proc_path(process, "environ"));
  seen.obstacle = Obstacle::none;
  if (!seen.has_collector) {
    if (!has_loader)
      seen.obstacle = Obstacle::is_static;
    else if (!has_glibc)
      seen.obstacle = Obstacle::has_other_c_library;
    else if (environment.find("libhbmscope_collector") == std::string::npos)
      seen.obstacle = Obstacle::lacks_preload;
  }
  seen.visible = attach::text_from_visible(attach::find_visible_memory(mappings, environment, {}, false), "");
}

void WatchedProcesses::look(pid_t job) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_round_) return;
  next_round_ = now + first_patience;
  std::vector<pid_t> todo{job};
  std::set<pid_t> found;
  while (!todo.empty() && found.size() < processes_max) {
    const pid_t process = todo.back();
    todo.pop_back();
    if (!found.insert(process).second) continue;
    Process& seen = processes_[process];
    if (now < seen.next_look) {
      // Its children are looked for when it is looked at, and those that are known, now.
      for (const pid_t child : seen.children)
        if (processes_.contains(child)) todo.push_back(child);
      continue;
    }
    look_at(process, seen);
    seen.children = children_of(process);
    todo.insert(todo.end(), seen.children.begin(), seen.children.end());
    seen.patience = std::clamp(2 * seen.patience, first_patience, longest_patience);
    seen.next_look = now + seen.patience;
  }
}

std::vector<std::string> WatchedProcesses::sentences_on_unseen(const std::vector<pid_t>& reported) const {
  std::map<std::string, Pids> by_reason;
  for (const auto& [pid, process] : processes_) {
    if (process.driver.empty() || std::find(reported.begin(), reported.end(), pid) != reported.end()) continue;
    const std::string_view reason = [&] {
      switch (process.obstacle) {
        case Obstacle::is_static: return "statically linked, so hbmscope's library can't be loaded";
        case Obstacle::has_other_c_library: return "its C library is not glibc";
        case Obstacle::lacks_preload: return "started without LD_PRELOAD, as env -i, sudo and some launchers do";
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

std::vector<std::string> WatchedProcesses::sentences(const std::vector<pid_t>& reported) const {
  std::vector<std::string> sentences;
  std::map<std::string, Pids> by_what;
  Pids without_driver;
  for (const auto& [pid, process] : processes_) {
    if (process.name.empty()) continue;
    if (std::find(reported.begin(), reported.end(), pid) != reported.end()) {
      if (!process.visible.empty()) by_what[process.visible][process.name].push_back(pid);
    } else if (process.driver.empty()) {
      without_driver[process.name].push_back(pid);
    }
  }
  for (const auto& [what, names] : by_what) sentences.push_back(fmt::format("watched: {}: {}", joined(names), what));
  for (std::string& sentence : sentences_on_unseen(reported)) sentences.push_back(std::move(sentence));
  if (reported.empty() && sentences.empty() && !without_driver.empty())
    sentences.push_back(
        fmt::format("no GPU driver (libcuda.so.1, libamdhip64.so) was loaded by {} when last looked at; does "
                    "the job run on the CPU? Ask JAX with jax.devices(), PyTorch with "
                    "torch.cuda.is_available()",
                    joined(without_driver)));
  return sentences;
}

}  // namespace hbmscope::cli
