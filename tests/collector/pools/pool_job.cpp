// A job with a framework's pool, for pools_test.py.
//
//   pool_job xla PLUGIN STEPS THREADS      random allocations and frees in two pools
//   pool_job torch C10_CUDA STEPS THREADS  the same in PyTorch's
//   pool_job pjrt PLUGIN                   two arrays a round, and a temporary, through the plugin's C API
//   pool_job cost PLUGIN PAIRS             nanoseconds of an allocation and a free, without and with the table
//
// POOL_JOB_SET="NAME=VALUE" is set in its own environment before anything else, as Python programs do, and so is the
// rest of a line "set NAME=VALUE". POOL_JOB_SET_LATE is set between loading the plugin and making its pools.
//
// Each line on standard input is answered by one round, and by a line with what is in use then: NAME BYTES BLOCKS ...
// It ends with its input, and leaves its blocks.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

template <class Function>
Function find(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return reinterpret_cast<Function>(found);
}

void set_variable(const std::string& line) {
  const std::size_t end = std::min(line.find('='), line.size());
  if (end < line.size()) setenv(line.substr(0, end).c_str(), line.substr(end + 1).c_str(), 1);
}

void* open_library(const char* path, int mode = RTLD_NOW | RTLD_LOCAL) {
  void* library = dlopen(path, mode);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return library;
}

// Initialises the driver, if there is one, as a framework would before it makes its pool.
void start_driver() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (driver == nullptr) return;
  void* context = nullptr;
  find<int (*)(unsigned)>(driver, "cuInit")(0);
  find<int (*)(void**, int)>(driver, "cuDevicePrimaryCtxRetain")(&context, 0);
  find<int (*)(void*)>(driver, "cuCtxSetCurrent")(context);
}

struct Kept {
  void* block;
  std::size_t pool;
};
constexpr std::size_t kept_max = 200;

// `take` and `give` are of any of `pools` pools.
template <class Take, class Give>
void work(unsigned seed, int steps, std::size_t pools, std::vector<Kept>& kept, const Take& take, const Give& give) {
  std::mt19937 random(seed);
  for (int i = 0; i < steps; ++i) {
    if (kept.size() < kept_max && (kept.empty() || random() % 2 == 0)) {
      const std::size_t pool = random() % pools;
      if (void* block = take(pool, 1 + random() % 100'000)) kept.push_back({block, pool});
    } else {
      std::swap(kept[random() % kept.size()], kept.back());
      give(kept.back().pool, kept.back().block);
      kept.pop_back();
    }
  }
}

// A thread in its own code, where hbmscope can attach; the others wait for input.
void compute_for_ever() {
  volatile unsigned sum = 0;
  for (unsigned i = 0;; ++i) {
    sum = sum + i;
    if (i % 1'000'000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

template <class Take, class Give, class Say>
int serve(int steps, int thread_count, std::size_t pools, const Take& take, const Give& give, const Say& say) {
  std::vector<std::vector<Kept>> kept(static_cast<std::size_t>(thread_count));
  unsigned seed = 0;
  std::thread(compute_for_ever).detach();
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::thread> threads;
    for (auto& mine : kept) {
      const unsigned own = ++seed;
      threads.emplace_back([&, own] { work(own, steps, pools, mine, take, give); });
    }
    for (std::thread& thread : threads) thread.join();
    if (line.rfind("set ", 0) == 0) set_variable(line.substr(4));
    if (line == "fail") take(0, std::size_t{1} << 50);
    std::size_t count = 0;
    for (const auto& mine : kept) count += mine.size();
    say(count);
    std::fflush(stdout);
  }
  return 0;
}

// A plugin with a pool (plugin.cpp).
struct Plugin {
  using Pool = void*;
  explicit Plugin(const char* path) : library(open_library(path)) {
    dlopen("libm.so.6", RTLD_NOW);  // One more library, before which a collector looks at the last one.
    if (const char* set = std::getenv("POOL_JOB_SET_LATE")) set_variable(set);
  }
  void* library;
  Pool (*make)(const char* name, std::size_t bytes, int memory_type) = find<decltype(make)>(library, "make_pool");
  void* (*allocate)(Pool pool, std::size_t bytes) = find<decltype(allocate)>(library, "allocate_in");
  void (*free)(Pool pool, void* block) = find<decltype(free)>(library, "free_in");
  void (*read)(Pool pool, long long* in_use, long long* allocations) = find<decltype(read)>(library, "read_figures");
};

int run_xla(const char* path, int steps, int threads) {
  start_driver();
  const Plugin plugin(path);
  struct Named {
    const char* name;
    Plugin::Pool pool;
  };
  const Named pools[] = {{"GPU_0_bfc", plugin.make("GPU_0_bfc", std::size_t{64} << 20, 1)},
                         {"gpu_host_bfc", plugin.make("gpu_host_bfc", std::size_t{64} << 20, 3)}};
  for (const Named& one : pools) plugin.free(one.pool, plugin.allocate(one.pool, 1));  // Here the driver has a context.
  return serve(
      steps, threads, std::size(pools),
      [&](std::size_t pool, std::size_t bytes) { return plugin.allocate(pools[pool].pool, bytes); },
      [&](std::size_t pool, void* block) { plugin.free(pools[pool].pool, block); },
      [&](std::size_t) {
        for (const Named& one : pools) {
          long long in_use = 0, allocations = 0;
          plugin.read(one.pool, &in_use, &allocations);
          std::printf("%s %lld %lld ", one.name, in_use, allocations);
        }
        std::printf("\n");
      });
}

int run_torch(const char* library, int steps, int threads) {
  void* torch = open_library(library);
  const auto take = find<void* (*)(std::size_t)>(torch, "torch_allocate");
  const auto give = find<void (*)(void*)>(torch, "torch_free");
  const auto allocated = find<std::size_t (*)()>(torch, "torch_allocated");
  const auto reports = find<long (*)()>(torch, "count_reports");
  return serve(
      steps, threads, 1, [&](std::size_t, std::size_t bytes) { return take(bytes); },
      [&](std::size_t, void* block) { give(block); },
      [&](std::size_t count) { std::printf("pool %zu %zu reports %ld\n", allocated(), count, reports()); });
}

int run_pjrt(const char* path) {
  start_driver();
  void* library = open_library(path);
  dlopen("libm.so.6", RTLD_NOW);
  const auto use = find<void (*)()>(library, "use_pjrt");
  std::thread(compute_for_ever).detach();
  for (std::string line; std::getline(std::cin, line);) {
    use();
    std::printf("done 0 0\n");
    std::fflush(stdout);
  }
  return 0;
}

// In rounds, so that an observer keeps up: waiting for it is not the cost of a call.
int measure_cost(const char* path, int pairs) {
  const Plugin plugin(path);
  const Plugin::Pool pool = plugin.make("GPU_0_bfc", std::size_t{64} << 20, 1);
  constexpr int round = 1000;
  std::vector<double> costs;
  for (int done = 0; done < pairs; done += round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < round; ++i) plugin.free(pool, plugin.allocate(pool, 1024));
    costs.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / round);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::nth_element(costs.begin(), costs.begin() + static_cast<std::ptrdiff_t>(costs.size() / 2), costs.end());
  std::printf("%.1f\n", costs[costs.size() / 2]);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (const char* set = std::getenv("POOL_JOB_SET")) set_variable(set);
  const std::string what = count > 1 ? words[1] : "";
  if (what == "xla" && count == 5) return run_xla(words[2], std::atoi(words[3]), std::atoi(words[4]));
  if (what == "torch" && count == 5) return run_torch(words[2], std::atoi(words[3]), std::atoi(words[4]));
  if (what == "pjrt" && count == 3) return run_pjrt(words[2]);
  if (what == "cost" && count == 4) return measure_cost(words[2], std::atoi(words[3]));
  return 2;
}
