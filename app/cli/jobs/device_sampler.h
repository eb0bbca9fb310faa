// Reads the totals of devices from the driver (collector/attach/device_totals.h) once a second on its own thread, so
// that observing a job never waits for the driver.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "collector/serve/device_totals.h"

namespace hbmscope::cli {

class DeviceSampler {
 public:
  DeviceSampler() = default;
  ~DeviceSampler();
  DeviceSampler(const DeviceSampler&) = delete;
  DeviceSampler& operator=(const DeviceSampler&) = delete;

  void start();  // Starts it once; later calls do nothing. It ends by itself if there is no device.
  void read_now();
  // The newest totals since the last call.
  std::optional<std::vector<serve::DeviceTotals>> take();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_due_ = false;
  std::atomic<bool> is_ending_{false};
  std::optional<std::vector<serve::DeviceTotals>> newest_;
  std::thread thread_;
};

}  // namespace hbmscope::cli
