// Sends figures to an OpenTelemetry collector by OTLP over HTTP, as JSON (https://opentelemetry.io/docs/specs/otlp).
// Without TLS, which a collector on the same machine doesn't need. A thread of its own sends, so that a slow or missing
// collector holds up nobody.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "analysis/model/result.h"
#include "collector/link/tcp.h"

namespace hbmscope::cli {

class OtlpSender {
 public:
  // "http://127.0.0.1:4318": the path is /v1/metrics unless another one is given. Errors: not such an address.
  static Result<std::unique_ptr<OtlpSender>> open(const std::string& url);
  // Sends what was handed over last; takes four seconds at most, unless the lookup of a name takes longer.
  ~OtlpSender();
  OtlpSender(const OtlpSender&) = delete;
  OtlpSender& operator=(const OtlpSender&) = delete;

  // Replaces what was handed over before and has not been sent: the figures are totals, so nothing is lost by that.
  // Says on the standard error when the collector begins to fail, and when it is back.
  void send(std::string request);

 private:
  struct Place {
    link::TcpAddress address;
    std::string path;  // "/v1/metrics"
  };
  explicit OtlpSender(Place place);
  void send_requests();
  std::string fault_of_sending(const std::string& request) const;  // Empty: the collector has taken it.
  void say_whether_it_failed(const std::string& fault);

  const Place place_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> request_;  // With mutex_, like the next two.
  bool is_ending_ = false, has_ended_ = false;
  bool has_failed_ = false;                 // Only the thread uses it.
  std::atomic<bool> is_cancelled_ = false;  // A connection that is being made.
  std::thread thread_;
};

}  // namespace hbmscope::cli
