#include "app/cli/jobs/remaining_processes.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "app/cli/jobs/watched_processes.h"
#include "collector/serve/observer.h"
#include "collector/serve/proc_file.h"

namespace hbmscope::cli {
namespace {

std::string file_of(pid_t process, const char* name) {
  return serve::read_proc_file("/proc/" + std::to_string(process) + "/" + name);
}

// The window and the programs that find lines. A zombie has nothing left but its name.
bool is_own(pid_t process) {
  return file_of(process, "comm").starts_with("hbmscope");
}

bool reap(pid_t process, pid_t job) {
  return process != job && !is_own(process) && waitpid(process, nullptr, WNOHANG) == process;
}

// In the middle of execve(), when neither its environment nor its libraries are there yet: field 51 of proc(5)'s stat,
// the end of the environment, is 0, as that of a zombie.
bool is_starting_program(pid_t process) {
  const std::string stat = file_of(process, "stat");
  std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
  std::string state, field;
  fields >> state;
  constexpr int first = 3, environment_end = 51;
  for (int i = first; i < environment_end; ++i) fields >> field;
  return fields && field == "0" && state != "Z" && state != "X";
}

bool may_report(pid_t process, const std::string& variable) {
  struct stat entry {};
  if (stat(("/proc/" + std::to_string(process)).c_str(), &entry) != 0 || entry.st_uid != geteuid()) return false;
  const std::string environment = '\0' + file_of(process, "environ");
  if (environment.size() == 1) return is_starting_program(process);
  if (environment.find(variable) == std::string::npos) return false;
  const std::string mappings = file_of(process, "maps");
  const auto has = [&](const char* file) { return mappings.find(file) != std::string::npos; };
  // The loader loads the collector before the C library; a static program has no loader.
  return has("/libhbmscope_collector") || (has("/ld-") && !has("/ld-musl") && !has("/libc.so.6") && !has("/libc-2."));
}

}  // namespace

void adopt_orphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void reap_orphans(pid_t job) {
  for (siginfo_t zombie{}; waitid(P_ALL, 0, &zombie, WEXITED | WNOHANG | WNOWAIT) == 0 && zombie.si_pid != 0;
       zombie = {}) {
    if (reap(zombie.si_pid, job)) continue;
    for (const pid_t child : find_children(getpid())) reap(child, job);  // Behind one that is not ours to reap.
    return;
  }
}

std::vector<pid_t> find_processes_that_may_report(const std::string& socket) {
  const std::string variable = '\0' + std::string(serve::Observer::variable) + "=" + socket + '\0';
  std::vector<pid_t> found, due{getpid()};
  while (!due.empty()) {
    const pid_t parent = due.back();
    due.pop_back();
    for (const pid_t child : find_children(parent)) {
      due.push_back(child);
      // Twice, because it may start another program meanwhile.
      if (may_report(child, variable) || may_report(child, variable)) found.push_back(child);
    }
  }
  return found;
}

}  // namespace hbmscope::cli
