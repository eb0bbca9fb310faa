#include "collector/view/far_line.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace hbmscope::view {
namespace {

constexpr std::size_t said_max = 2000;

// Our own message, or else ssh's last line: a greeting may come before it.
std::string words_of(std::string said) {
  constexpr std::string_view program = "hbmscope: ";
  while (!said.empty() && (said.back() == '\n' || said.back() == '\r')) said.pop_back();
  if (said.size() > said_max) said.erase(0, said.size() - said_max);
  for (std::size_t at = 0; (at = said.find('\r', at)) != std::string::npos;) said.erase(at, 1);
  const std::size_t ours = said.rfind(program);
  if (ours != std::string::npos && (ours == 0 || said[ours - 1] == '\n')) return said.substr(ours + program.size());
  return said.substr(said.rfind('\n') + 1);
}

}  // namespace

std::unique_ptr<FarLine> FarLine::start(const FarJob& job, const std::vector<std::string>& words, std::string& wrong) {
  const auto bundle = find_bundle();
  if (!bundle) {
    wrong = "this hbmscope has no server bundle to copy to " + job.host + "; build it with make bundle";
    return nullptr;
  }
  int ends[2] = {-1, -1}, errors[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 || pipe2(errors, O_CLOEXEC | O_NONBLOCK) != 0) {
    wrong = std::strerror(errno);
    for (const int one : {ends[0], ends[1]})
      if (one >= 0) close(one);
    return nullptr;
  }
  fcntl(errors[1], F_SETFL, fcntl(errors[1], F_GETFL) & ~O_NONBLOCK);  // ssh's end may block.
  const pid_t process =
      start_ssh(job.host, far_command(bundle->identity, words), ends[1], ends[1], errors[1], true, wrong);
  close(ends[1]);
  close(errors[1]);
  if (process > 0) {
    fcntl(ends[0], F_SETFL, fcntl(ends[0], F_GETFL) | O_NONBLOCK);
    return std::unique_ptr<FarLine>(new FarLine(process, ends[0], errors[0]));
  }
  close(ends[0]);
  close(errors[0]);
  return nullptr;
}

FarLine::~FarLine() {
  close(socket_);
  close(errors_);
  if (process_ <= 0) return;
  constexpr int patience_ms = 300;  // The relay ends when nobody listens.
  for (int waited = 0; waitpid(process_, nullptr, WNOHANG) == 0; ++waited) {
    if (waited == patience_ms) kill(process_, SIGTERM);
    if (waited == 4 * patience_ms) kill(process_, SIGKILL);
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

void FarLine::read_errors() {
  char part[4096];
  for (ssize_t count = 0; (count = read(errors_, part, sizeof(part))) > 0;) {
    said_.append(part, static_cast<std::size_t>(count));
    if (said_.size() > 2 * said_max) said_.erase(0, said_.size() - said_max);
  }
}

FarLine::End FarLine::finish() {
  constexpr int patience_ms = 2000;
  int status = 0;
  pid_t ended = 0;
  for (int waited = 0; (ended = waitpid(process_, &status, WNOHANG)) == 0 && waited < patience_ms; ++waited) {
    read_errors();
    pollfd more{errors_, POLLIN, 0};
    poll(&more, 1, 1);
    const timespec pause{0, 500'000};
    nanosleep(&pause, nullptr);
  }
  if (ended == 0) {  // The connection has ended, but ssh has not.
    kill(process_, SIGKILL);
    waitpid(process_, &status, 0);
  }
  process_ = -1;
  read_errors();
  End end;
  end.is_lost = !WIFEXITED(status) || WEXITSTATUS(status) == ssh_failed;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return end;
  end.words = words_of(said_);
  if (!end.words.empty()) return end;
  end.words = WIFEXITED(status)
                  ? "ssh ended with exit code " + std::to_string(WEXITSTATUS(status)) + " and printed no reason"
                  : "ssh was killed by signal " + std::to_string(WTERMSIG(status));
  return end;
}

}  // namespace hbmscope::view
