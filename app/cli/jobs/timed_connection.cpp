#include "app/cli/jobs/timed_connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hbmscope::cli {

using Clock = std::chrono::steady_clock;

TimedConnection::TimedConnection(int connection, std::chrono::milliseconds patience)
    : connection_(connection), deadline_(Clock::now() + patience) {}

TimedConnection::~TimedConnection() {
  close(connection_);
}

void TimedConnection::set_patience(std::chrono::milliseconds patience) {
  deadline_ = Clock::now() + patience;
}

bool TimedConnection::send_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(connection_, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent > 0)
      text.remove_prefix(static_cast<std::size_t>(sent));
    else if (errno != EINTR && !(errno == EAGAIN && wait(POLLOUT)))
      return note_fault();
  }
  return true;
}

bool TimedConnection::receive(std::string& text) {
  for (;;) {
    char part[4096];
    const ssize_t count = recv(connection_, part, sizeof part, 0);
    if (count > 0) text.append(part, static_cast<std::size_t>(count));
    if (count >= 0) return count > 0;
    if (errno != EINTR && !(errno == EAGAIN && wait(POLLIN))) return note_fault();
  }
}

// False, with EAGAIN in errno, if the deadline comes first.
bool TimedConnection::wait(short events) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    pollfd waiting{connection_, events, 0};
    const int ready = left <= 0 ? 0 : poll(&waiting, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready < 0 && errno == EINTR) continue;
    errno = EAGAIN;
    return false;
  }
}

bool TimedConnection::note_fault() {
  fault_ = errno == EAGAIN ? "it did not answer in time" : std::strerror(errno);
  return false;
}

}  // namespace hbmscope::cli
