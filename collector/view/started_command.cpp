#include "collector/view/started_command.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace hbmscope::view {

std::unique_ptr<StartedCommand> StartedCommand::start(const std::vector<std::string>& words, std::string& wrong,
                                                      int* output) {
  std::vector<std::string> kept{"hbmscope"};
  kept.insert(kept.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : kept) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // A pair of sockets, not a pipe: writing to one without a reader is an error, not a signal.
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    wrong = std::strerror(errno);
    return nullptr;
  }
  int printed[2] = {-1, -1};
  if (output != nullptr && pipe2(printed, O_CLOEXEC) != 0) {
    wrong = std::strerror(errno);
    close(ends[0]);
    close(ends[1]);
    return nullptr;
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);  // The parent has already died.
    dup2(ends[0], STDIN_FILENO);
    if (output != nullptr) {
      dup2(printed[1], STDOUT_FILENO);
      dup2(printed[1], STDERR_FILENO);
    }
    execv(program.c_str(), arguments.data());
    _exit(1);
  }
  close(ends[0]);
  if (output != nullptr) {
    close(printed[1]);
    *output = printed[0];
  }
  if (pid > 0) return std::unique_ptr<StartedCommand>(new StartedCommand(pid, ends[1]));
  wrong = std::strerror(errno);
  close(ends[1]);
  if (output != nullptr) close(printed[0]);
  return nullptr;
}

StartedCommand::~StartedCommand() {
  close(input_);
  const auto pid = static_cast<pid_t>(pid_);
  kill(pid, SIGTERM);
  constexpr int patience_ms = 3000;
  for (int waited = 0; waitpid(pid, nullptr, WNOHANG) == 0; ++waited) {
    if (waited == patience_ms) kill(pid, SIGKILL);
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

void StartedCommand::write_line(const std::string& line) const {
  const std::string text = line + "\n";
  send(input_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace hbmscope::view
