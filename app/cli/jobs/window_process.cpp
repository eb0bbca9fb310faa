#include "app/cli/jobs/window_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hbmscope::cli {

void WindowProcess::open(const std::string& socket) {
  const std::string source = "live:" + socket;
  window_ = fork();
  if (window_ != 0) return;
  setsid();
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  execl("/proc/self/exe", "hbmscope", "open", source.c_str(), nullptr);
  _exit(1);
}

bool WindowProcess::was_closed() {
  if (window_ <= 0 || waitpid(window_, nullptr, WNOHANG) != window_) return false;
  window_ = -1;
  return true;
}

}  // namespace hbmscope::cli
