#include "collector/inject/hand_over.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "collector/wire/ring_layout.h"

namespace hbmscope::inject {
namespace {

// A call on a Unix socket with a time limit ends early when the job is stopped and continued, or handles a signal;
// nothing of it has happened then (signal(7)), so it is repeated. For two seconds at most: a process that gets signals
// without end goes on without us.
template <typename Call>
auto unless_interrupted(const Call& call) {
  constexpr long seconds_max = 2;
  timespec begin{}, now{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  auto done = call();
  while (done < 0 && errno == EINTR) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - begin.tv_sec > seconds_max) break;
    done = call();
  }
  return done;
}

}  // namespace

const char* hand_over(int memory, const char* observer_path, int& observer, int* link) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(observer_path) >= sizeof(address.sun_path)) return "the path of its socket is too long";
  std::strcpy(address.sun_path, observer_path);
  const int socket_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return "cannot create a socket";
  const timeval second{1, 0};
  setsockopt(socket_fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
  wire::Hello hello;
  if (link != nullptr) std::memcpy(hello.magic, wire::hello_when_attached, sizeof(hello.magic));
  iovec part{&hello, sizeof(hello)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &memory, sizeof(int));
  const bool is_connected = unless_interrupted([&] {
                              return connect(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
                            }) == 0;
  bool is_reported = is_connected && unless_interrupted([&] { return sendmsg(socket_fd, &message, MSG_NOSIGNAL); }) ==
                                         static_cast<ssize_t>(sizeof(hello));
  ucred peer{};
  socklen_t peer_bytes = sizeof(peer);
  if (is_reported && getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_bytes) == 0) observer = peer.pid;
  if (link == nullptr || !is_reported) {
    const int wrong = errno;
    close(socket_fd);
    if (is_reported) return nullptr;
    if (wrong == EACCES || wrong == EPERM)
      return "it may not use the socket of hbmscope, as another user or in a container. Start hbmscope as that user";
    return wrong == ENOENT ? "the socket of hbmscope is gone" : "it does not answer";
  }
  const timeval patience{5, 0};
  setsockopt(socket_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  char answer = 0;
  is_reported = unless_interrupted([&] { return recv(socket_fd, &answer, 1, 0); }) == 1 && answer == wire::attach_taken;
  if (is_reported) {
    *link = socket_fd;
    return nullptr;
  }
  close(socket_fd);
  return "hbmscope rejected it";
}

}  // namespace hbmscope::inject
