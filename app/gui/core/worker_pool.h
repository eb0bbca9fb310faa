// Threads that work while the window draws. What they find comes back as a closure that runs on the window's own thread
// (run_finished), so that no state of the window is ever touched by two threads and nothing in it needs a lock.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hbmscope::gui {

class WorkerPool {
 public:
  using Finish = std::function<void()>;
  using Work = std::function<Finish()>;

  // `wake` is called after each piece of work, from the thread that did it.
  WorkerPool(unsigned threads, std::function<void()> wake);
  ~WorkerPool();  // Waits for what is running; what has not begun is forgotten.
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void post(Work work);
  bool run_finished();  // True where something had finished.
  bool busy() const;    // Something waits, runs, or has finished and was not collected.

 private:
  void run_worker();

  mutable std::mutex mutex_;
  std::condition_variable something_to_do_;
  std::deque<Work> waiting_;
  std::vector<Finish> finished_;
  std::size_t running_ = 0;
  bool stopping_ = false;
  std::function<void()> wake_;
  std::vector<std::thread> threads_;
};

}  // namespace hbmscope::gui
