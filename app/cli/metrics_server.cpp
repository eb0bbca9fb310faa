#include "app/cli/metrics_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/units/utf8.h"
#include "app/cli/load.h"

namespace hbmscope::cli {
namespace {

constexpr int patience_ms = 2000;
constexpr std::size_t request_bytes_max = 8192;

// The head of a request; empty if it did not come in time, or is too long.
std::string read_head(int connection) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms);
  std::string head;
  while (head.find("\r\n\r\n") == std::string::npos) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waiting{connection, POLLIN, 0};
    if (head.size() > request_bytes_max || left.count() <= 0 || poll(&waiting, 1, static_cast<int>(left.count())) <= 0)
      return {};
    char part[1024];
    const ssize_t count = recv(connection, part, sizeof part, 0);
    if (count <= 0) return {};
    head.append(part, static_cast<std::size_t>(count));
  }
  return head;
}

void send_all(int connection, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string response(std::string_view status, std::string_view type, std::string_view body) {
  return fmt::format("HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status,
                     type, body.size(), body);
}

}  // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::open(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const std::string host = colon == std::string::npos ? "127.0.0.1" : address.substr(0, colon);
  const std::string_view number = std::string_view(address).substr(colon == std::string::npos ? 0 : colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), port);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  if (error != std::errc() || end != number.data() + number.size() ||
      inet_pton(AF_INET, host.c_str(), &place.sin_addr) != 1)
    return Failure(refusal(fmt::format("--metrics {} is not a port, nor an address with one", printable(address)),
                           "Write 9400, or 10.0.0.7:9400 for other machines."));
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  socklen_t size = sizeof place;
  if (made >= 0) setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (made < 0 || bind(made, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 || listen(made, 8) != 0 ||
      getsockname(made, reinterpret_cast<sockaddr*>(&place), &size) != 0) {
    const int why = errno;
    if (made >= 0) close(made);
    return Failure(refusal(fmt::format("cannot listen at {}:{}: {}", host, port, std::strerror(why)),
                           "Choose another port; 0 takes a free one."));
  }
  return std::unique_ptr<MetricsServer>(new MetricsServer(made, fmt::format("{}:{}", host, ntohs(place.sin_port))));
}

MetricsServer::MetricsServer(int socket, std::string address)
    : socket_(socket), address_(std::move(address)), thread_([this] { accept_requests(); }) {}

MetricsServer::~MetricsServer() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  shutdown(socket_, SHUT_RDWR);  // Wakes accept().
  thread_.join();
  close(socket_);
}

void MetricsServer::serve(const std::function<std::string()>& text) {
  if (!is_wanted_) return;
  std::string made = text();
  {
    const std::lock_guard lock(mutex_);
    text_ = std::move(made);
    is_wanted_ = false;
  }
  changed_.notify_all();
}

void MetricsServer::accept_requests() {
  while (true) {
    const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) {
      const int why = errno;
      std::unique_lock lock(mutex_);
      const bool is_passing = why == EINTR || why == ECONNABORTED || why == EMFILE || why == ENFILE || why == EAGAIN;
      if (is_ending_ || !is_passing) return;
      if (why == EMFILE || why == ENFILE) changed_.wait_for(lock, std::chrono::milliseconds(patience_ms));
      continue;
    }
    const timeval patience{patience_ms / 1000, 0};
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    answer(connection);
    close(connection);
  }
}

void MetricsServer::answer(int connection) {
  const std::string head = read_head(connection);
  if (head.empty()) return;
  if (!head.starts_with("GET /metrics ") && !head.starts_with("GET /metrics?"))
    return send_all(connection, response("404 Not Found", "text/plain", "The figures are at /metrics.\n"));
  const std::string text = wait_for_text();
  send_all(connection, text.empty() ? response("503 Service Unavailable", "text/plain", "There are no figures yet.\n")
                                    : response("200 OK", "text/plain; version=0.0.4; charset=utf-8", text));
}

std::string MetricsServer::wait_for_text() {
  std::unique_lock lock(mutex_);
  text_.clear();  // It may be that of a request that was given up.
  is_wanted_ = true;
  changed_.wait_for(lock, std::chrono::milliseconds(patience_ms), [&] { return !is_wanted_ || is_ending_; });
  return std::exchange(text_, {});
}

}  // namespace hbmscope::cli
