#include "collector/link/tcp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>

namespace hbmscope::link {
namespace {

constexpr std::chrono::seconds connect_patience{10};
constexpr int connect_step_ms = 100;
constexpr int waiting_max = SOMAXCONN;  // A flood fills it.

struct FreeAddresses {
  void operator()(addrinfo* all) const { freeaddrinfo(all); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Addresses look_up(const TcpAddress& address, int flags, std::string& wrong) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (failed != 0) wrong = address.host + ": " + gai_strerror(failed);
  return Addresses(failed == 0 ? found : nullptr);
}

std::optional<std::uint16_t> port_from(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

// "HOST:PORT", "[HOST]:PORT"
std::optional<TcpAddress> split(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const auto port = port_from(text.substr(colon + 1));
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  if (!port || host.empty() || (!is_bracketed && host.find(':') != std::string_view::npos)) return std::nullopt;
  return TcpAddress{std::string(host), *port};
}

bool is_number(const std::string& host) {
  in6_addr bytes{};
  return inet_pton(AF_INET, host.c_str(), &bytes) == 1 || inet_pton(AF_INET6, host.c_str(), &bytes) == 1;
}

// Sends without delay, and detects a peer whose machine is gone.
void set_usual_options(int connection) {
  const int one = 1, idle_seconds = 30, probe_seconds = 10, probes = 3;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  setsockopt(connection, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
  setsockopt(connection, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof(idle_seconds));
  setsockopt(connection, IPPROTO_TCP, TCP_KEEPINTVL, &probe_seconds, sizeof(probe_seconds));
  setsockopt(connection, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

// 0, or errno.
int finish_connect(int connection, const addrinfo& to, const std::atomic<bool>* is_cancelled) {
  if (connect(connection, to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  const auto until = std::chrono::steady_clock::now() + connect_patience;
  for (pollfd waited{connection, POLLOUT, 0}; poll(&waited, 1, connect_step_ms) <= 0;) {  // A signal ends it early.
    if (is_cancelled != nullptr && *is_cancelled) return ECANCELED;
    if (std::chrono::steady_clock::now() > until) return ETIMEDOUT;
  }
  int failed = 0;
  socklen_t bytes = sizeof(failed);
  return getsockopt(connection, SOL_SOCKET, SO_ERROR, &failed, &bytes) != 0 ? errno : failed;
}

}  // namespace

std::string TcpAddress::text() const {
  const bool is_six = host.find(':') != std::string::npos;
  return (is_six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<TcpAddress> listen_address_from(std::string_view text) {
  if (const auto port = port_from(text)) return TcpAddress{"127.0.0.1", *port};
  auto address = split(text);
  if (address && address->host == "localhost") address->host = "127.0.0.1";
  return address && is_number(address->host) ? address : std::nullopt;
}

std::optional<TcpAddress> connect_address_from(std::string_view text) {
  auto address = split(text);
  return address && address->port != 0 ? address : std::nullopt;
}

bool is_loopback(const TcpAddress& address) {
  in_addr four{};
  if (inet_pton(AF_INET, address.host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six{};
  return inet_pton(AF_INET6, address.host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

int listen_at(TcpAddress& address, std::string& wrong) {
  const Addresses found = look_up(address, AI_NUMERICHOST | AI_PASSIVE, wrong);
  if (!found) return -1;
  const int listening = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int one = 1;
  if (listening >= 0) setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  // An address of the other family is a separate one, which a person must request.
  if (listening >= 0 && found->ai_family == AF_INET6)
    setsockopt(listening, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
  sockaddr_storage bound{};
  socklen_t bytes = sizeof(bound);
  if (listening >= 0 && bind(listening, found->ai_addr, found->ai_addrlen) == 0 &&
      listen(listening, waiting_max) == 0 && getsockname(listening, reinterpret_cast<sockaddr*>(&bound), &bytes) == 0) {
    address.port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                                     : reinterpret_cast<sockaddr_in&>(bound).sin_port);
    return listening;
  }
  wrong = std::strerror(errno);
  if (listening >= 0) close(listening);
  return -1;
}

int connect_to(const TcpAddress& address, std::string& wrong, const std::atomic<bool>* is_cancelled) {
  const Addresses found = look_up(address, 0, wrong);
  const auto is_wanted = [&] { return is_cancelled == nullptr || !*is_cancelled; };
  for (const addrinfo* to = found.get(); to != nullptr && is_wanted(); to = to->ai_next) {
    const int connection = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connection < 0) continue;
    const int failed = finish_connect(connection, *to, is_cancelled);
    if (failed == 0) {
      set_usual_options(connection);
      return connection;
    }
    wrong = std::strerror(failed);
    close(connection);
  }
  return -1;
}

int accept_at(int listening) {
  const int connection = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connection >= 0) set_usual_options(connection);
  return connection;
}

std::string peer_text(int connection) {
  sockaddr_storage peer{};
  socklen_t bytes = sizeof(peer);
  char host[INET6_ADDRSTRLEN] = "";
  if (getpeername(connection, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0) return "somebody";
  TcpAddress address;
  if (peer.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<sockaddr_in6&>(peer);
    inet_ntop(AF_INET6, &six.sin6_addr, host, sizeof(host));
    address.port = ntohs(six.sin6_port);
  } else {
    const auto& four = reinterpret_cast<sockaddr_in&>(peer);
    inet_ntop(AF_INET, &four.sin_addr, host, sizeof(host));
    address.port = ntohs(four.sin_port);
  }
  address.host = host;
  return address.text();
}

}  // namespace hbmscope::link
