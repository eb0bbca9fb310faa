// Answers Prometheus over HTTP on this machine: GET /metrics. A thread of its own accepts one request after the other,
// and waits until the owner of the figures has made the text, so that nothing is computed while nobody asks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "analysis/model/result.h"
#include "app/cli/jobs/timed_connection.h"

namespace hbmscope::cli {

class MetricsServer {
 public:
  // `address`: "9400" for the loopback interface, or "10.0.0.7:9400". Errors: not an address; the port is taken.
  static Result<std::unique_ptr<MetricsServer>> open(const std::string& address);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  const std::string& address() const { return address_; }  // "127.0.0.1:9400"

  // The owner calls this at least once a second; `text` is called if a request waits for it.
  void serve(const std::function<std::string()>& text);

 private:
  MetricsServer(int socket, std::string address);
  void accept_requests();
  void answer(TimedConnection& connection);
  // Empty: the owner did not answer in time.
  std::string wait_for_text();

  int socket_;
  std::string address_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> is_wanted_ = false;
  bool is_ending_ = false;  // With mutex_, like the next one.
  std::string text_;
  std::thread thread_;
};

}  // namespace hbmscope::cli
