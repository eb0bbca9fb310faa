// Streams: work runs in order. Kernels take no time, so nearly all work runs at once, in the thread that requests it;
// only functions of the host run on a thread of the stream, because programs rely on that (they may hold a lock that
// the function wants), and what comes after such a function waits in the queue.
// The clock is virtual: each stream counts the nanoseconds that its work would take. It decides nothing but the times
// between events.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace hbmscope::device {

class Graph;

inline constexpr std::uint64_t kernel_ns = 5'000;    // A launch takes that long, whatever it would compute.
inline constexpr double copied_bytes_per_ns = 25.0;  // The rate of copies between host and device, about PCIe 4.0 x16.

class Stream {
 public:
  Stream(int device, unsigned flags, int priority);
  // Waits for its work.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Runs `work` now if nothing is queued before it, otherwise after that, on the stream's thread.
  void run(std::function<void()> work, std::uint64_t duration_ns);
  // Runs `work` on the stream's thread.
  void run_on_thread(std::function<void()> work);
  bool is_idle();
  // Returns at once if called from a function that runs on this stream.
  void wait();

  std::uint64_t clock_ns() const { return clock_ns_.load(std::memory_order_relaxed); }
  void advance_to(std::uint64_t ns);

  const int device;
  const unsigned flags;
  const int priority;
  const std::uint64_t id;

  // The graph that the stream's work is recorded into instead of running, or null. Set and read by the thread that
  // captures.
  Graph* capture = nullptr;
  std::uint64_t capture_id = 0;
  bool began_capture = false;  // False: it joined, by waiting for an event of a stream that captures.

 private:
  void work_through();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool is_running_ = false, is_ending_ = false;
  std::thread thread_;
  std::atomic<std::uint64_t> clock_ns_{0};
};

class Event {
 public:
  // The event is done when `stream` has reached this place. Recording again moves it.
  static void record(const std::shared_ptr<Event>& event, Stream& stream);
  // Work that is requested on `stream` from now on comes after the last recorded place.
  static void make_wait(const std::shared_ptr<Event>& event, Stream& stream);
  // An event that was never recorded is done.
  bool is_done();
  bool was_recorded();
  void wait();
  // On the stream's clock, at the last place that was reached.
  std::uint64_t time_ns();

  // The capture that it was recorded in, or null.
  Graph* capture = nullptr;
  std::uint64_t capture_id = 0;

 private:
  void wait_for(std::uint64_t number);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t recorded_ = 0, done_ = 0, time_ns_ = 0;
};

}  // namespace hbmscope::device
