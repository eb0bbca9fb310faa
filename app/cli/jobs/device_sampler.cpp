#include "app/cli/jobs/device_sampler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "collector/attach/device_totals.h"

namespace hbmscope::cli {
namespace {

constexpr std::chrono::seconds interval{1}, pause_max{64};

}  // namespace

DeviceSampler::~DeviceSampler() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void DeviceSampler::start() {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void DeviceSampler::read_now() {
  {
    const std::lock_guard lock(mutex_);
    is_due_ = true;
  }
  changed_.notify_one();
}

std::optional<std::vector<serve::DeviceTotals>> DeviceSampler::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(newest_, std::nullopt);
}

// Ends if there is no device. A device that fails later is tried again after increasing pauses.
void DeviceSampler::run() {
  bool has_devices = false;
  std::chrono::seconds pause = interval;
  for (std::unique_lock lock(mutex_); !is_ending_;) {
    is_due_ = false;
    lock.unlock();
    std::vector<serve::DeviceTotals> totals = attach::read_device_totals(&is_ending_);
    lock.lock();
    if (totals.empty() && !has_devices) return;
    has_devices = true;
    pause = totals.empty() ? std::min(2 * pause, pause_max) : interval;
    if (!totals.empty()) newest_ = std::move(totals);
    changed_.wait_for(lock, pause, [this] { return is_due_ || is_ending_; });
  }
}

}  // namespace hbmscope::cli
