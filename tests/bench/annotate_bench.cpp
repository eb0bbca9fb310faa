// The cost of a call of collector/annotate/hbmscope.h to the program that makes it.
//
//   annotate_bench                                        nobody listens
//   hbmscope run --record /tmp/bench.hbm -- annotate_bench     into rings, which another process drains
//
// Compared with the floor of the same run: the clock that stamps an event and a store of its 64 bytes. Runs in bursts
// that fit in a ring, so that no event is lost, which would be cheaper.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "collector/annotate/hbmscope.h"

namespace {

constexpr int bursts = 40;
constexpr std::uint64_t burst_calls = 50'000;

hbmscope_frame frames[] = {{"matmul", "model.py", 42}};
hbmscope_stack matmul = HBMSCOPE_STACK(frames);

double now_ns() {
  return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
}

std::uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(now_ns());
#endif
}

// Takes the place of the work between two calls, so that the store buffer is not all that is measured.
void pause_between_bursts() {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

template <class Burst>
double median_ns(const Burst& burst) {
  std::vector<double> all;
  for (int i = 0; i < bursts; ++i) {
    const double begin = now_ns();
    burst();
    all.push_back((now_ns() - begin) / static_cast<double>(burst_calls));
    pause_between_bursts();
  }
  std::nth_element(all.begin(), all.begin() + bursts / 2, all.end());
  return all[bursts / 2];
}

void call(hbmscope_heap& heap) {
  for (std::uint64_t i = 0; i < burst_calls / 2; ++i) {
    hbmscope_alloc(&heap, i << 9, 512, 500, &matmul, nullptr);
    hbmscope_free(&heap, i << 9, nullptr);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

double floor_ns() {
  struct Event {
    std::uint64_t words[8];
  };
  const std::unique_ptr<Event[]> ring(new Event[burst_calls]());
  return median_ns([&] {
    for (std::uint64_t i = 0; i < burst_calls; ++i) {
      const std::uint64_t stamp = ticks();
      ring[i] = {{stamp, i, 512, 500, 1, 1, stamp, 0}};
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
  });
}

}  // namespace

int main() {
  static std::vector<hbmscope_heap> heaps(8, hbmscope_heap HBMSCOPE_HEAP("pool", "device", 0));
  for (hbmscope_heap& heap : heaps) hbmscope_heap_add(&heap);
  const bool is_listened_to = hbmscope_table.alloc != nullptr;
  const double floor = floor_ns(), one = median_ns([] { call(heaps[0]); });
  std::printf("%s: %.1f ns a call", is_listened_to ? "into a ring" : "nobody listens", one);
  std::printf("; floor (clock and 64 bytes) %.1f ns: %.2fx\n", floor, one / floor);
  for (const std::size_t threads : {2U, 4U, 8U}) {
    std::vector<double> each(threads);
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < threads; ++i)
      running.emplace_back([&, i] { each[i] = median_ns([&] { call(heaps[i]); }); });
    for (std::thread& thread : running) thread.join();
    std::sort(each.begin(), each.end());
    std::printf("  %zu threads on %u cores: %.1f to %.1f ns a call\n", threads, std::thread::hardware_concurrency(),
                each.front(), each.back());
  }
  return 0;
}
