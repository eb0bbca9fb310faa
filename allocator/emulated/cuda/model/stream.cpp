#include "allocator/emulated/cuda/model/stream.h"

#include <algorithm>
#include <utility>

namespace hbmscope::device {
namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> ids{0};
  return ++ids;
}

}  // namespace

Stream::Stream(int device_, unsigned flags_, int priority_)
    : device(device_), flags(flags_), priority(priority_), id(next_id()) {}

Stream::~Stream() {
  wait();
  {
    std::lock_guard lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

void Stream::advance_to(std::uint64_t ns) {
  std::uint64_t now = clock_ns_.load(std::memory_order_relaxed);
  while (now < ns && !clock_ns_.compare_exchange_weak(now, ns, std::memory_order_relaxed)) {
  }
}

void Stream::run(std::function<void()> work, std::uint64_t duration_ns) {
  clock_ns_.fetch_add(duration_ns, std::memory_order_relaxed);
  if (is_idle())
    work();
  else
    run_on_thread(std::move(work));
}

void Stream::run_on_thread(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  if (!thread_.joinable()) thread_ = std::thread([this] { work_through(); });
  changed_.notify_all();
}

bool Stream::is_idle() {
  std::lock_guard lock(mutex_);
  return queue_.empty() && !is_running_;
}

void Stream::wait() {
  std::unique_lock lock(mutex_);
  if (thread_.joinable() && thread_.get_id() == std::this_thread::get_id()) return;
  changed_.wait(lock, [this] { return queue_.empty() && !is_running_; });
}

void Stream::work_through() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    is_running_ = true;
    lock.unlock();
    work();
    lock.lock();
    is_running_ = false;
    changed_.notify_all();
  }
}

void Event::record(const std::shared_ptr<Event>& event, Stream& stream) {
  std::uint64_t number;
  {
    std::lock_guard lock(event->mutex_);
    number = ++event->recorded_;
    event->time_ns_ = stream.clock_ns();
  }
  stream.run(
      [event, number] {
        std::lock_guard lock(event->mutex_);
        event->done_ = std::max(event->done_, number);
        event->changed_.notify_all();
      },
      0);
}

void Event::make_wait(const std::shared_ptr<Event>& event, Stream& stream) {
  std::uint64_t number;
  {
    std::lock_guard lock(event->mutex_);
    stream.advance_to(event->time_ns_);
    number = event->recorded_;
    if (event->done_ >= number) return;
  }
  stream.run_on_thread([event, number] { event->wait_for(number); });
}

bool Event::is_done() {
  std::lock_guard lock(mutex_);
  return done_ >= recorded_;
}

bool Event::was_recorded() {
  std::lock_guard lock(mutex_);
  return recorded_ > 0;
}

void Event::wait_for(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, number] { return done_ >= number; });
}

void Event::wait() {
  std::uint64_t number;
  {
    std::lock_guard lock(mutex_);
    number = recorded_;
  }
  wait_for(number);
}

std::uint64_t Event::time_ns() {
  std::lock_guard lock(mutex_);
  return time_ns_;
}

}  // namespace hbmscope::device
