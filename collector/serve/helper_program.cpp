#include "collector/serve/helper_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace hbmscope::serve {

std::string HelperProgram::find(const char* name) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& place : {folder, folder.parent_path() / "lib" / "hbmscope"})
    if (std::filesystem::exists(place / name, error)) return (place / name).string();
  return {};
}

bool HelperProgram::start() {
  const std::string program = find(name_);
  int ends[2] = {-1, -1};
  if (program.empty() || socketpair(AF_UNIX, kind_ | SOCK_CLOEXEC, 0, ends) != 0) return false;
  sigset_t none;
  sigemptyset(&none);
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) {
    sigprocmask(SIG_SETMASK, &none, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    setpgid(0, 0);  // A terminal's Ctrl+C must not reach it.
    dup2(ends[1], STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    if (const int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    execl(program.c_str(), name_, nullptr);
    _exit(1);
  }
  close(ends[1]);
  socket_ = ends[0];
  if (process_ < 0) end();
  return process_ > 0;
}

void HelperProgram::end() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  // A program that hangs in the kernel does not die; init reaps it after this program has ended.
  for (int turn = 0; turn < 1000 && waitpid(process_, nullptr, WNOHANG) == 0; ++turn) usleep(1000);
  process_ = -1;
}

}  // namespace hbmscope::serve
