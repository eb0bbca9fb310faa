#include "app/cli/jobs/otlp_sender.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/units/utf8.h"
#include "app/cli/jobs/timed_connection.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

constexpr std::string_view default_port = ":4318", default_path = "/v1/metrics";
constexpr auto answer_patience = std::chrono::seconds(2);  // For one request and its answer.
constexpr std::size_t answer_bytes_max = 64 << 10;

// A collector may keep the connection open after the body.
bool is_whole(const std::string& answer) {
  const std::size_t body = answer.find("\r\n\r\n");
  if (body == std::string::npos) return false;
  std::string head = answer.substr(0, body + 2);
  std::transform(head.begin(), head.end(), head.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::string_view name = "\r\ncontent-length:";
  std::size_t at = head.find(name);
  if (at == std::string::npos) return false;
  at = head.find_first_not_of(' ', at + name.size());
  std::size_t bytes = 0;
  if (at == std::string::npos || std::from_chars(head.data() + at, head.data() + head.size(), bytes).ec != std::errc())
    return false;
  return answer.size() - (body + 4) >= bytes;
}

// "it rejected 3 figures: unknown metric". Empty if it has taken all.
std::string rejection_in(std::string_view body) {
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object() || !json.contains("partialSuccess") || !json["partialSuccess"].is_object()) return {};
  const nlohmann::json& partial = json["partialSuccess"];
  const auto text_of = [&](const char* key) {
    const auto found = partial.find(key);
    if (found == partial.end()) return std::string();
    return found->is_string() ? found->get<std::string>() : found->dump();
  };
  const std::string rejected = text_of("rejectedDataPoints"), why = text_of("errorMessage");
  if (rejected.empty() || rejected == "0") return {};
  return fmt::format("it rejected {} figures{}{}", printable(rejected), why.empty() ? "" : ": ", printable(why));
}

}  // namespace

Result<std::unique_ptr<OtlpSender>> OtlpSender::open(const std::string& url) {
  constexpr std::string_view scheme = "http://";
  const auto refused = [&](std::string_view why) {
    return Failure(refusal(fmt::format("--otlp {} {}", printable(url), why),
                           "Write http://HOST:PORT, as in http://127.0.0.1:4318, without TLS."));
  };
  if (!url.starts_with(scheme)) return refused("does not begin with http://");
  if (url.find_first_of(" \r\n\t@?#") != std::string::npos) return refused("is more than a host, a port and a path");
  const std::string_view rest = std::string_view(url).substr(scheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string host(rest.substr(0, slash));
  const std::size_t end_of_name = host.starts_with('[') ? host.find(']') : 0;  // "[::1]:4318"
  if (end_of_name != std::string::npos && host.find(':', end_of_name) == std::string::npos) host += default_port;
  const auto address = link::connect_address_from(host);
  if (!address) return refused("has no host with a port of 1 to 65535");
  const std::string path(rest.size() - slash > 1 ? rest.substr(slash) : default_path);
  return std::unique_ptr<OtlpSender>(new OtlpSender({*address, path}));
}

OtlpSender::OtlpSender(Place place) : place_(std::move(place)), thread_([this] { send_requests(); }) {}

OtlpSender::~OtlpSender() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, answer_patience, [this] { return has_ended_; });
  }
  is_cancelled_ = true;
  thread_.join();
}

void OtlpSender::send(std::string request) {
  {
    const std::lock_guard lock(mutex_);
    request_ = std::move(request);
  }
  changed_.notify_all();
}

void OtlpSender::send_requests() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return request_ || is_ending_; });
    if (!request_) break;
    const std::string request = std::move(*request_);
    request_.reset();
    lock.unlock();
    say_whether_it_failed(fault_of_sending(request));
    lock.lock();
  }
  has_ended_ = true;
  changed_.notify_all();
}

std::string OtlpSender::fault_of_sending(const std::string& request) const {
  std::string wrong;
  const int connection = link::connect_to(place_.address, wrong, &is_cancelled_);
  if (connection < 0) return wrong.empty() ? "it did not answer in time" : wrong;
  TimedConnection exchange(connection, answer_patience);
  const std::string head = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: hbmscope\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n",
      place_.path, place_.address.text(), request.size());
  if (!exchange.send_all(head) || !exchange.send_all(request)) return exchange.fault();
  std::string answer;
  while (answer.size() < answer_bytes_max && !is_whole(answer) && exchange.receive(answer)) {
  }
  const std::string status = answer.substr(0, answer.find_first_of("\r\n"));
  if (status.empty()) return exchange.fault().empty() ? "it hung up without an answer" : exchange.fault();
  if (!status.starts_with("HTTP/1.") || status.find(" 2") != 8) return "it answered " + printable(status);
  const std::size_t body = answer.find("\r\n\r\n");
  return body == std::string::npos ? std::string() : rejection_in(std::string_view(answer).substr(body + 4));
}

void OtlpSender::say_whether_it_failed(const std::string& fault) {
  const bool has_failed = !fault.empty();
  if (has_failed != has_failed_)
    say(has_failed ? fmt::format("the collector at {} takes no figures: {}; trying again with the next ones",
                                 place_.address.text(), fault)
                   : fmt::format("the collector at {} takes figures again", place_.address.text()));
  has_failed_ = has_failed;
}

}  // namespace hbmscope::cli
