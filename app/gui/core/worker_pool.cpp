#include "app/gui/core/worker_pool.h"

#include <utility>

namespace hbmscope::gui {

WorkerPool::WorkerPool(unsigned threads, std::function<void()> wake) : wake_(std::move(wake)) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run_worker(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    waiting_.clear();
  }
  something_to_do_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::post(Work work, Turn turn) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.insert(turn == Turn::next ? waiting_.begin() : waiting_.end(), std::move(work));
  }
  something_to_do_.notify_one();
}

void WorkerPool::post_finished(Finish finish) {
  {
    const std::lock_guard lock(mutex_);
    finished_.push_back(std::move(finish));
  }
  wake_();
}

void WorkerPool::run_one() {
  if (waiting_.empty()) return;
  Work work = std::move(waiting_.front());
  waiting_.pop_front();
  finished_.push_back(work());
}

bool WorkerPool::run_finished() {
  if (threads_.empty()) run_one();
  std::vector<Finish> finished;
  {
    const std::lock_guard lock(mutex_);
    finished.swap(finished_);
  }
  for (const Finish& finish : finished)
    if (finish) finish();
  return !finished.empty();
}

bool WorkerPool::busy() const {
  const std::lock_guard lock(mutex_);
  return running_ > 0 || !waiting_.empty() || !finished_.empty();
}

void WorkerPool::run_worker() {
  for (;;) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      something_to_do_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
      ++running_;
    }
    Finish finish = work();
    work = nullptr;  // Releases what the task holds before it counts as done.
    {
      const std::lock_guard lock(mutex_);
      finished_.push_back(std::move(finish));
      --running_;
    }
    wake_();
  }
}

}  // namespace hbmscope::gui
