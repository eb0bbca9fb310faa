// What the collector adds to a call of the CUDA driver: calls of a driver that does nothing, beside the same calls that
// nobody intercepts, in one run.
//
//   hbmscope run --record /tmp/bench.hbm -- driver_bench         (with the folder of bare_driver in LD_LIBRARY_PATH)
//
// In bursts that a ring can hold, with pauses in which the observer takes them out, so that no call waits for it.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using Alloc = int (*)(unsigned long long*, std::size_t);
using Free = int (*)(unsigned long long);

constexpr int bursts = 15;
constexpr int burst_pairs = 30'000;

double now_ns() {
  return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// Nanoseconds a call, the median of the bursts.
double measure(unsigned threads, Alloc alloc, Free free) {
  std::vector<double> all;
  for (int i = 0; i < bursts; ++i) {
    const double begin = now_ns();
    for (int pair = 0; pair < burst_pairs; ++pair) {
      unsigned long long address = 0;
      alloc(&address, 4096);
      free(address);
    }
    all.push_back((now_ns() - begin) / (2.0 * burst_pairs));
    std::this_thread::sleep_for(std::chrono::milliseconds(40 * threads));
  }
  std::nth_element(all.begin(), all.begin() + bursts / 2, all.end());
  return all[bursts / 2];
}

double measure_threads(unsigned threads, Alloc alloc, Free free) {
  std::vector<double> each(threads);
  std::vector<std::thread> running;
  for (double& mine : each) running.emplace_back([&] { mine = measure(threads, alloc, free); });
  for (std::thread& thread : running) thread.join();
  std::nth_element(each.begin(), each.begin() + threads / 2, each.end());
  return each[threads / 2];
}

}  // namespace

int main() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto find = [driver](const char* name) { return driver == nullptr ? nullptr : dlsym(driver, name); };
  const auto bare_alloc = reinterpret_cast<Alloc>(find("bare_alloc"));
  const auto bare_free = reinterpret_cast<Free>(find("bare_free"));
  const auto alloc = reinterpret_cast<Alloc>(find("cuMemAlloc_v2"));
  const auto free = reinterpret_cast<Free>(find("cuMemFree_v2"));
  if (bare_alloc == nullptr || alloc == nullptr) {
    std::fputs("driver_bench: the libcuda.so.1 that was found is not the one of this benchmark\n", stderr);
    return 1;
  }
  for (const unsigned threads : {1U, 8U}) {
    const double bare = measure_threads(threads, bare_alloc, bare_free), told = measure_threads(threads, alloc, free);
    std::printf("%u thread%s: %.1f ns a call, %.1f ns of it bare: %.1f ns more\n", threads, threads == 1 ? "" : "s",
                told, bare, told - bare);
  }
}
