#include "app/cli/jobs/metrics_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/units/utf8.h"
#include "app/cli/load.h"
#include "collector/link/tcp.h"

namespace hbmscope::cli {
namespace {

constexpr std::chrono::milliseconds patience{2000};
constexpr std::size_t request_bytes_max = 8192;

// The head of a request; empty if it did not come in time, or is too long.
std::string read_head(TimedConnection& connection) {
  std::string head;
  while (head.find("\r\n\r\n") == std::string::npos)
    if (head.size() > request_bytes_max || !connection.receive(head)) return {};
  return head;
}

std::string response(std::string_view status, std::string_view type, std::string_view body) {
  return fmt::format("HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status,
                     type, body.size(), body);
}

}  // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::open(const std::string& address) {
  auto place = link::listen_address_from(address);
  if (!place)
    return Failure(refusal(fmt::format("--metrics {} is not a port, nor an address with one", printable(address)),
                           "Write 9400, or 10.0.0.7:9400 for other machines."));
  std::string wrong;
  const int listening = link::listen_at(*place, wrong);
  if (listening < 0)
    return Failure(refusal(fmt::format("cannot listen at {}: {}", place->text(), wrong),
                           "Choose another port; 0 takes a free one."));
  return std::unique_ptr<MetricsServer>(new MetricsServer(listening, place->text()));
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
    pollfd waiting{socket_, POLLIN, 0};
    poll(&waiting, 1, -1);
    const int connection = link::accept_at(socket_);
    if (connection < 0) {
      const int why = errno;
      std::unique_lock lock(mutex_);
      const bool is_passing = why == EINTR || why == ECONNABORTED || why == EMFILE || why == ENFILE || why == EAGAIN;
      if (is_ending_ || !is_passing) return;
      if (why == EMFILE || why == ENFILE) changed_.wait_for(lock, patience);
      continue;
    }
    TimedConnection with_client(connection, patience);
    answer(with_client);
  }
}

void MetricsServer::answer(TimedConnection& connection) {
  const std::string head = read_head(connection);
  if (head.empty()) return;
  const bool is_known = head.starts_with("GET /metrics ") || head.starts_with("GET /metrics?");
  const std::string text = is_known ? wait_for_text() : std::string();
  connection.set_patience(patience);
  if (!is_known)
    connection.send_all(response("404 Not Found", "text/plain", "The figures are at /metrics.\n"));
  else if (text.empty())
    connection.send_all(response("503 Service Unavailable", "text/plain", "There are no figures yet.\n"));
  else
    connection.send_all(response("200 OK", "text/plain; version=0.0.4; charset=utf-8", text));
}

std::string MetricsServer::wait_for_text() {
  std::unique_lock lock(mutex_);
  text_.clear();  // It may be that of a request that was given up.
  is_wanted_ = true;
  changed_.wait_for(lock, patience, [&] { return !is_wanted_ || is_ending_; });
  return std::exchange(text_, {});
}

}  // namespace hbmscope::cli
