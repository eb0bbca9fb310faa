#include "app/cli/device_sampler.h"

#include <chrono>
#include <utility>

#include "collector/attach/device_totals.h"

namespace hbmscope::cli {
namespace {

constexpr std::chrono::seconds interval{1};

std::vector<serve::DeviceFigures> figures_from(const std::vector<attach::DeviceTotals>& devices) {
  std::vector<serve::DeviceFigures> figures;
  for (const attach::DeviceTotals& device : devices) {
    serve::DeviceFigures& one = figures.emplace_back();
    one.used_bytes = device.used_bytes;
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

void DeviceSampler::run() {
  for (std::unique_lock lock(mutex_); !is_ending_;) {
    is_asked_ = false;
    lock.unlock();
    std::vector<serve::DeviceFigures> figures = figures_from(attach::read_device_totals(&is_ending_));
    lock.lock();
    if (figures.empty()) return;
    newest_ = std::move(figures);
    changed_.wait_for(lock, interval, [this] { return is_asked_ || is_ending_; });
  }
}

}  // namespace hbmscope::cli
