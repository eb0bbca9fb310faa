// Threads that work while the window draws. A result comes back as a closure that runs on the window's thread
// (run_finished), so that no window state is shared between threads and nothing needs a lock.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
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

  // `wake` is called after each task, from the thread that ran it. With 0 threads run_finished() does one task at a
  // time.
  WorkerPool(unsigned threads, std::function<void()> wake);
  ~WorkerPool();  // Waits for running tasks; tasks that have not started are dropped.
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  enum class Turn : std::uint8_t { last, next };
  void post(Work work, Turn turn = Turn::last);
  void post_finished(Finish finish);  // From any thread: what is finished already and only needs the window's thread.
  bool run_finished();                // True if something had finished.
  bool busy() const;                  // A task is waiting, running, or finished but not collected.

 private:
  void run_worker();
  void run_one();

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
