#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "collector/attach/injector.h"

namespace hbmscope::attach {

InjectionProcess::InjectionProcess(const Injection& injection) {
  int ends[2] = {-1, -1};
  const pid_t parent = getpid();
  if (pipe2(ends, O_CLOEXEC) != 0 || (child_ = fork()) < 0) {
    refusal_ = Refusal{std::string("cannot create a process: ") + std::strerror(errno), ""};
    is_over_ = true;
    if (ends[0] >= 0) close(ends[0]), close(ends[1]);
    return;
  }
  if (child_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);  // The parent has already died.
    for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(one, SIG_DFL);
    const auto refusal = inject(injection);
    const std::string said = refusal ? refusal->what + '\0' + refusal->remedy : std::string(1, '\0');
    [[maybe_unused]] const ssize_t written = write(ends[1], said.data(), said.size());
    _exit(0);
  }
  close(ends[1]);
  pipe_ = ends[0];
  fcntl(pipe_, F_SETFL, O_NONBLOCK);
}

InjectionProcess::~InjectionProcess() {
  if (!is_over_) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  if (pipe_ >= 0) close(pipe_);
}

bool InjectionProcess::is_over() {
  if (is_over_) return true;
  char part[512];
  ssize_t bytes = 0;
  while ((bytes = read(pipe_, part, sizeof(part))) > 0) said_.append(part, static_cast<std::size_t>(bytes));
  if (bytes < 0) return false;  // Nothing yet.
  waitpid(child_, nullptr, 0);
  is_over_ = true;
  const std::size_t middle = said_.find('\0');
  if (middle == std::string::npos)
    refusal_ = Refusal{"the process that loads the collector was killed", "The job keeps running. Try again."};
  else if (middle > 0)
    refusal_ = Refusal{said_.substr(0, middle), said_.substr(middle + 1)};
  return true;
}

}  // namespace hbmscope::attach
