#include "collector/view/live_link.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "collector/link/meeting_place.h"

namespace hbmscope::view {

std::string socket_of(std::string_view name) {
  constexpr std::string_view prefix = "live:";
  if (!name.starts_with(prefix)) return {};
  const std::string_view rest = name.substr(prefix.size());
  if (rest.starts_with('/')) return std::string(rest);
  std::int64_t observer = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), observer);
  if (error != std::errc() || end != rest.data() + rest.size() || observer <= 0) return {};
  return link::viewer_socket(link::private_folder(), link::find_observer_of(observer).value_or(observer));
}

LiveLink::LiveLink(LinkReader::BlockSink blocks, LinkReader::StatusSink statuses)
    : reader_(std::move(blocks), std::move(statuses)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      bytes_(std::size_t{256} << 10) {}

LiveLink::~LiveLink() {
  if (connection_ >= 0) close(connection_);
  if (wake_ >= 0) close(wake_);
}

std::optional<std::string> LiveLink::open(const std::string& socket) {
  std::string wrong;
  if (connection_ >= 0) close(connection_);
  connection_ = link::connect_to(socket, SOCK_STREAM, wrong);
  if (connection_ < 0) return wrong;
  reader_.begin();
  why_.clear();
  link::Greeting greeting;
  greeting.session = reader_.session();
  greeting.place = reader_.place();
  if (!link::trusted_peer(connection_, wrong)) {
    end(wrong);
  } else if (send(connection_, &greeting, sizeof(greeting), MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof(greeting))) {
    end(std::strerror(errno));
  } else {
    return std::nullopt;
  }
  return why_;
}

bool LiveLink::end(std::string why) {
  why_ = std::move(why);
  close(connection_);
  connection_ = -1;
  return false;
}

bool LiveLink::read(int wait_ms) {
  if (connection_ < 0) return false;
  std::array<pollfd, 2> waited{pollfd{connection_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
  poll(waited.data(), waited.size(), wait_ms);
  if (waited[1].revents != 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t bytes = ::read(wake_, &count, sizeof(count));
  }
  constexpr int turns = 16;
  for (int turn = 0; turn < turns; ++turn) {
    const ssize_t got = recv(connection_, bytes_.data(), bytes_.size(), 0);
    if (got == 0) return end({});
    if (got < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK || end(std::strerror(errno));
    }
    if (auto wrong = reader_.feed(std::span(bytes_).first(static_cast<std::size_t>(got)))) return end(*wrong);
  }
  return true;
}

void LiveLink::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t bytes = write(wake_, &one, sizeof(one));
}

void LiveLink::request(link::RequestKind kind) {
  link::Request request;
  request.kind = kind;
  send(connection_, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace hbmscope::view
