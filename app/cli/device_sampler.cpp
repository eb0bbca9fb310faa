#include "app/cli/device_sampler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "collector/attach/device_totals.h"

namespace hbmscope::cli {
namespace {

constexpr std::chrono::seconds interval{1}, pause_max{64};

std::vector<serve::DeviceFigures> figures_from(const std::vector<attach::DeviceTotals>& devices) {
  std::vector<serve::DeviceFigures> figures;
  for (const attach::DeviceTotals& device : devices) {
    serve::DeviceFigures& one = figures.emplace_back();
    one.used_bytes = device.used_bytes;
    one.knows_holders = device.knows_holders;
    for (const attach::DeviceTotals::Holder& holder : device.holders)
      one.holders.push_back({holder.process, holder.bytes});
  }
  return figures;
}

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

void DeviceSampler::ask_now() {
  {
    const std::lock_guard lock(mutex_);
    is_asked_ = true;
  }
  changed_.notify_one();
}

std::optional<std::vector<serve::DeviceFigures>> DeviceSampler::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(newest_, std::nullopt);
}

// Where nothing was ever told there is nobody to be asked; one that has told and does not is tried again, ever later.
void DeviceSampler::run() {
  bool has_told = false;
  std::chrono::seconds pause = interval;
  for (std::unique_lock lock(mutex_); !is_ending_;) {
    is_asked_ = false;
    lock.unlock();
    std::vector<serve::DeviceFigures> figures = figures_from(attach::read_device_totals(&is_ending_));
    lock.lock();
    if (figures.empty() && !has_told) return;
    has_told = true;
    pause = figures.empty() ? std::min(2 * pause, pause_max) : interval;
    if (!figures.empty()) newest_ = std::move(figures);
    changed_.wait_for(lock, pause, [this] { return is_asked_ || is_ending_; });
  }
}

}  // namespace hbmscope::cli
