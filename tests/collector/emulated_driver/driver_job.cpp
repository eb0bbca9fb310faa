// A job with many threads that allocates memory from the driver and frees it in random order. Threads free what others
// allocated. Prints its operations as JSON.
//
//   driver_job HOW THREADS OPERATIONS  SEED   HOW: linked, dlsym, dlvsym or proc (cuGetProcAddress)
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "collector/abi/cuda.h"

using namespace hbmscope::cuda;

// The functions used here, with the name for cuGetProcAddress and a version that selects this variant.
#define FUNCTIONS(F)                                                                           \
  F(cuMemAlloc_v2, "cuMemAlloc", 12000, (Address*, Size))                                      \
  F(cuMemFree_v2, "cuMemFree", 12000, (Address))                                               \
  F(cuMemAllocAsync, "cuMemAllocAsync", 12000, (Address*, Size, Object))                       \
  F(cuMemFreeAsync, "cuMemFreeAsync", 12000, (Address, Object))                                \
  F(cuMemAllocManaged, "cuMemAllocManaged", 12000, (Address*, Size, unsigned))                 \
  F(cuMemCreate, "cuMemCreate", 12000, (MemHandle*, Size, const AllocationProperties*, Flags)) \
  F(cuMemRelease, "cuMemRelease", 12000, (MemHandle))                                          \
  F(cuMemAddressReserve, "cuMemAddressReserve", 12000, (Address*, Size, Size, Address, Flags)) \
  F(cuMemAddressFree, "cuMemAddressFree", 12000, (Address, Size))                              \
  F(cuMemMap, "cuMemMap", 12000, (Address, Size, Size, MemHandle, Flags))                      \
  F(cuMemUnmap, "cuMemUnmap", 12000, (Address, Size))                                          \
  F(cuArrayCreate_v2, "cuArrayCreate", 12000, (Object*, const ArrayDescriptor<Size>*))         \
  F(cuArrayDestroy, "cuArrayDestroy", 12000, (Object))                                         \
  F(cuMemHostAlloc, "cuMemHostAlloc", 12000, (void**, Size, unsigned))                         \
  F(cuMemFreeHost, "cuMemFreeHost", 12000, (void*))                                            \
  F(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", 12000, (Object*, Device))            \
  F(cuCtxSetCurrent, "cuCtxSetCurrent", 12000, (Object))

#ifdef JOB_IS_LINKED
#define DECLARE(name, symbol, version, parameters) extern "C" Result name parameters;
FUNCTIONS(DECLARE)
#endif

namespace {

struct Driver {
#define FIELD(name, symbol, version, parameters) Result(*name) parameters = nullptr;
  FUNCTIONS(FIELD)
};
Driver driver;

template <class Function>
void put(Function*& field, void* function, const char* name) {
  if (function == nullptr) {
    std::fprintf(stderr, "there is no %s\n", name);
    std::exit(2);
  }
  field = reinterpret_cast<Function*>(function);
}

void find_driver(const char* how) {
#ifdef JOB_IS_LINKED
  if (std::strcmp(how, "linked") == 0) {
#define LINKED(name, symbol, version, parameters) put(driver.name, reinterpret_cast<void*>(&::name), #name);
    FUNCTIONS(LINKED)
    return;
  }
#endif
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  using Ask = Result (*)(const char*, void**, int, Flags, int*);
  const auto ask = reinterpret_cast<Ask>(dlsym(library, "cuGetProcAddress_v2"));
  const bool is_requested = std::strcmp(how, "proc") == 0;
  const auto find = [&](const char* name, const char* symbol, int version) {
    void* found = nullptr;
    if (!is_requested)
      return std::strcmp(how, "dlvsym") == 0 ? dlvsym(library, name, "EMULATED_1.0") : dlsym(library, name);
    const char* other_version = std::getenv("JOB_CUDA_VERSION");
    if (other_version != nullptr) version = std::atoi(other_version);
    if (ask(symbol, &found, version, 0, nullptr) != success) found = dlsym(library, name);
    return found;
  };
#define FOUND(name, symbol, version, parameters) put(driver.name, find(#name, symbol, version), #name);
  FUNCTIONS(FOUND)
}

struct Counts {
  std::uint64_t alloc = 0, free = 0, refusals = 0;
};
struct Block {
  enum class Kind { sync, async, managed, array, host, physical } kind = Kind::sync;
  Device device = 0;
  Size bytes = 0;
  Address address = 0;
  MemHandle handle = 0;
};
constexpr Device devices = 2;
// Once there were this many blocks, there are never fewer, so that blocks remain at the end of a job whatever the order
// of threads.
constexpr std::size_t kept_blocks = 16;

struct Shared {
  std::mutex mutex;
  std::vector<Block> blocks;
  std::array<std::int64_t, devices> in_use{};
  std::array<Object, devices> contexts{};
  Counts counts;
};

class Worker {
 public:
  Worker(Shared& shared, std::uint64_t seed) : shared_(shared), random_(seed) {}
  void run(std::uint64_t operations) {
    for (std::uint64_t i = 0; i < operations; ++i) {
      if (random_() % 64 == 0) set_device(static_cast<Device>(random_() % devices));
      if (random_() % 2 == 0)
        take();
      else
        give();
    }
    const std::lock_guard lock(shared_.mutex);
    shared_.counts.alloc += counts_.alloc;
    shared_.counts.free += counts_.free;
    shared_.counts.refusals += counts_.refusals;
    for (std::size_t i = 0; i < devices; ++i) shared_.in_use[i] += in_use_[i];
  }
  void set_device(Device device) {
    device_ = device;
    driver.cuCtxSetCurrent(shared_.contexts[static_cast<std::size_t>(device)]);
  }

 private:
  void take() {
    Block block;
    block.kind = static_cast<Block::Kind>(random_() % 6);
    block.device = device_;
    block.bytes = 512 * (1 + random_() % 8) - random_() % 100;
    Result result = success;
    switch (block.kind) {
      case Block::Kind::sync: result = driver.cuMemAlloc_v2(&block.address, block.bytes); break;
      case Block::Kind::async: result = driver.cuMemAllocAsync(&block.address, block.bytes, nullptr); break;
      case Block::Kind::managed: result = driver.cuMemAllocManaged(&block.address, block.bytes, 1); break;
      case Block::Kind::array: {
        const ArrayDescriptor<Size> array{block.bytes, 0, 0x20, 1};
        block.bytes *= 4;
        result = driver.cuArrayCreate_v2(reinterpret_cast<Object*>(&block.address), &array);
        break;
      }
      case Block::Kind::host:
        result = driver.cuMemHostAlloc(reinterpret_cast<void**>(&block.address), block.bytes, 0);
        break;
      case Block::Kind::physical: result = take_physical(block); break;
    }
    if (result == error_out_of_memory) ++counts_.refusals;
    if (result != success) return;
    if (block.kind != Block::Kind::physical) ++counts_.alloc;
    if (is_of_device(block)) in_use_[static_cast<std::size_t>(block.device)] += static_cast<std::int64_t>(block.bytes);
    const std::lock_guard lock(shared_.mutex);
    shared_.blocks.push_back(block);
  }
  // Mapped and released at once: it is live as long as its mapping.
  Result take_physical(Block& block) {
    AllocationProperties properties{};
    properties.location = {LocationType::device, block.device};
    if (const Result result = driver.cuMemCreate(&block.handle, block.bytes, &properties, 0); result != success)
      return result;
    driver.cuMemAddressReserve(&block.address, block.bytes, 0, 0, 0);
    driver.cuMemMap(block.address, block.bytes, 0, block.handle, 0);
    return driver.cuMemRelease(block.handle);
  }
  void give() {
    Block block;
    {
      const std::lock_guard lock(shared_.mutex);
      if (shared_.blocks.size() <= kept_blocks) return;
      Block& one = shared_.blocks[random_() % shared_.blocks.size()];
      block = one;
      one = shared_.blocks.back();
      shared_.blocks.pop_back();
    }
    switch (block.kind) {
      case Block::Kind::sync:
      case Block::Kind::managed: driver.cuMemFree_v2(block.address); break;
      case Block::Kind::async: driver.cuMemFreeAsync(block.address, nullptr); break;
      case Block::Kind::array: driver.cuArrayDestroy(reinterpret_cast<Object>(block.address)); break;
      case Block::Kind::host: driver.cuMemFreeHost(reinterpret_cast<void*>(block.address)); break;
      case Block::Kind::physical:
        driver.cuMemUnmap(block.address, block.bytes);
        driver.cuMemAddressFree(block.address, block.bytes);
        break;
    }
    if (block.kind != Block::Kind::physical) ++counts_.free;
    if (is_of_device(block)) in_use_[static_cast<std::size_t>(block.device)] -= static_cast<std::int64_t>(block.bytes);
  }
  static bool is_of_device(const Block& block) {
    return block.kind != Block::Kind::managed && block.kind != Block::Kind::host;
  }

  Shared& shared_;
  std::mt19937_64 random_;
  Device device_ = 0;
  Counts counts_;
  std::array<std::int64_t, devices> in_use_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  find_driver(argv[1]);
  const auto threads = static_cast<std::uint64_t>(std::atoll(argv[2]));
  const auto operations = static_cast<std::uint64_t>(std::atoll(argv[3]));
  const auto seed = static_cast<std::uint64_t>(std::atoll(argv[4]));
  Shared shared;
  for (Device device = 0; device < devices; ++device)
    driver.cuDevicePrimaryCtxRetain(&shared.contexts[static_cast<std::size_t>(device)], device);
  std::vector<std::thread> running;
  for (std::uint64_t i = 0; i < threads; ++i)
    running.emplace_back([&, i] { Worker(shared, seed + i).run(operations / threads); });
  for (std::thread& thread : running) thread.join();
  std::array<int, devices> live{};
  for (const Block& block : shared.blocks)
    if (block.kind == Block::Kind::sync || block.kind == Block::Kind::async || block.kind == Block::Kind::array)
      ++live[static_cast<std::size_t>(block.device)];
  std::printf(
      "{\"alloc\": %llu, \"free\": %llu, \"driver_refusals\": %llu, \"in_use_bytes\": [%lld, %lld], \"live_blocks\": "
      "[%d, %d]}\n",
      static_cast<unsigned long long>(shared.counts.alloc), static_cast<unsigned long long>(shared.counts.free),
      static_cast<unsigned long long>(shared.counts.refusals), static_cast<long long>(shared.in_use[0]),
      static_cast<long long>(shared.in_use[1]), live[0], live[1]);
}
