// Sends figures to an OpenTelemetry collector by OTLP over HTTP, as JSON (https://opentelemetry.io/docs/specs/otlp).
// Without TLS, which a collector on the same machine doesn't need. A thread of its own sends, so that a slow or missing
// collector holds up nobody.
#pragma once

#include <netdb.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "analysis/model/result.h"

namespace hbmscope::cli {

class OtlpSender {
 public:
  // "http://127.0.0.1:4318": the path is /v1/metrics unless another one is given. Errors: not such an address; a host
  // that is not known.
  static Result<std::unique_ptr<OtlpSender>> open(const std::string& url);
  // Sends what was handed over last. Takes four seconds at most: two for each request.
  ~OtlpSender();
  OtlpSender(const OtlpSender&) = delete;
  OtlpSender& operator=(const OtlpSender&) = delete;

  // Replaces what was handed over before and has not been sent: the figures are totals, so nothing is lost by that.
  // Says on the standard error when the collector begins to fail, and when it is back.
  void send(std::string request);

 private:
  using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;
  struct Place {
    std::string name, path;  // "127.0.0.1:4318", "/v1/metrics".
    Addresses addresses;
  };
  explicit OtlpSender(Place place);
  void send_requests();
  std::string fault_of_sending(const std::string& request) const;  // Empty: the collector has taken it.
  void say_whether_it_failed(const std::string& fault);

  const Place place_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> request_;  // With mutex_, like the next one.
  bool is_ending_ = false;
  bool has_failed_ = false;  // Of the thread.
  std::thread thread_;
};

}  // namespace hbmscope::cli
