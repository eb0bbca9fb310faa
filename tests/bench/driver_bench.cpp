// The cost that the collector adds to a CUDA driver call: calls to a driver that does nothing, compared with the same
// calls without interception, in one run.
//
//   hbmscope run --record /tmp/bench.hbm -- driver_bench         (with the folder of bare_driver in LD_LIBRARY_PATH)
//
// In bursts that fit in a ring, with pauses in which the observer reads them, so that no call waits for it.
//
// Then the same from twenty frames deep, compared with backtrace() there: the cost of a call's stack (run with --stacks
// native, and with none for the difference). Measured in the thread's own CPU time, so that other threads do not count.
//
//   driver_bench --malloc         the same depth, calls of malloc and free instead (driver_vs_heaptrack.py)
#include <dlfcn.h>
#include <execinfo.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
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

constexpr int frames = 20, deep_bursts = 9, deep_pairs = 5'000;

// Nanoseconds per call of each kind: not intercepted, reported, and backtrace().
struct Deep {
  double bare = 0, reported = 0, backtrace = 0;
  int depth = 0;  // As measured by backtrace().
};

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <class Call>
double measure_here(const Call& call) {
  std::vector<double> all;
  for (int i = 0; i < deep_bursts; ++i) {
    const double begin = cpu_ns();
    for (int pair = 0; pair < deep_pairs; ++pair) call();
    all.push_back((cpu_ns() - begin) / (2.0 * deep_pairs));
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
  }
  std::nth_element(all.begin(), all.begin() + deep_bursts / 2, all.end());
  return all[deep_bursts / 2];
}

Deep measure_deep(Alloc alloc, Free free, Alloc bare_alloc, Free bare_free) {
  const auto pair_of = [](Alloc take, Free give) {
    return [take, give] {
      unsigned long long address = 0;
      take(&address, 4096);
      give(address);
    };
  };
  Deep deep;
  void* addresses[128];
  deep.depth = backtrace(addresses, 128);
  deep.bare = measure_here(pair_of(bare_alloc, bare_free));
  deep.reported = measure_here(pair_of(alloc, free));
  deep.backtrace = measure_here([&addresses] {
    backtrace(addresses, 128);
    backtrace(addresses, 128);
  });
  return deep;
}

__attribute__((noinline)) void descend(int levels, const auto& at_the_end) {
  if (levels > 0)
    descend(levels - 1, at_the_end);
  else
    at_the_end();
  __asm__ volatile("" : : : "memory");  // So that no call is a jump.
}

int measure_malloc() {
  // Through pointers that a compiler can't see through, so that the calls are made.
  void* (*volatile take)(std::size_t) = std::malloc;
  void (*volatile give)(void*) = std::free;
  void* addresses[128];
  int depth = 0;
  double ns = 0;
  descend(frames, [&] {
    depth = backtrace(addresses, 128);
    ns = measure_here([&] { give(take(4096)); });
  });
  std::printf("malloc, %d frames deep: %.1f ns a call\n", depth, ns);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--malloc") return measure_malloc();
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
    const double bare = measure_threads(threads, bare_alloc, bare_free),
                 reported = measure_threads(threads, alloc, free);
    std::printf("%u thread%s: %.1f ns a call, %.1f ns of it bare: %.1f ns more\n", threads, threads == 1 ? "" : "s",
                reported, bare, reported - bare);
  }
  Deep deep;
  descend(frames, [&] { deep = measure_deep(alloc, free, bare_alloc, bare_free); });
  std::printf(
      "1 thread, %d frames deep: %.1f ns a call, %.1f ns of it bare: %.1f ns more; backtrace() %.1f ns: %.2f times "
      "that\n",
      deep.depth, deep.reported, deep.bare, deep.reported - deep.bare, deep.backtrace,
      (deep.reported - deep.bare) / deep.backtrace);
}
