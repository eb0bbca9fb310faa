// A job with many threads that allocates memory from HIP's runtime and frees it in random order, each thread on
// changing devices. Threads free what others allocated. After each call the thread's last error must be what the
// runtime's own rules make of the results of this program's calls. Prints its operations as JSON.
//
//   hip_job HOW THREADS OPERATIONS SEED   HOW: linked, dlsym, dlvsym or proc (hipGetProcAddress)
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "collector/abi/hip.h"

using namespace hbmscope::cuda;
using namespace hbmscope::hip;

// The functions used here, with their versions.
#define FUNCTIONS(F)                                                                     \
  F(hipMalloc, "hip_4.2", (Address*, Size))                                              \
  F(hipFree, "hip_4.2", (Address))                                                       \
  F(hipMallocAsync, "hip_5.1", (Address*, Size, Object))                                 \
  F(hipFreeAsync, "hip_5.1", (Address, Object))                                          \
  F(hipMallocManaged, "hip_4.2", (Address*, Size, unsigned))                             \
  F(hipMemCreate, "hip_5.1", (MemHandle*, Size, const AllocationProperties*, Flags))     \
  F(hipMemRelease, "hip_5.1", (MemHandle))                                               \
  F(hipMemAddressReserve, "hip_5.1", (Address*, Size, Size, Address, Flags))             \
  F(hipMemAddressFree, "hip_5.1", (Address, Size))                                       \
  F(hipMemMap, "hip_5.1", (Address, Size, Size, MemHandle, Flags))                       \
  F(hipMemUnmap, "hip_5.1", (Address, Size))                                             \
  F(hipMallocArray, "hip_4.2", (Object*, const ChannelFormat*, Size, Size, unsigned))    \
  F(hipFreeArray, "hip_4.2", (Object))                                                   \
  F(hipHostMalloc, "hip_4.2", (void**, Size, unsigned))                                  \
  F(hipHostFree, "hip_4.2", (void*))                                                     \
  F(hipSetDevice, "hip_4.2", (Device))                                                   \
  F(hipLaunchKernel, "hip_4.2", (const void*, GridSize, GridSize, void**, Size, Object)) \
  F(hipPeekAtLastError, "hip_4.2", ())                                                   \
  F(hipGetLastError, "hip_4.2", ())

#ifdef JOB_IS_LINKED
#define DECLARE(name, version, parameters) extern "C" Result name parameters;
FUNCTIONS(DECLARE)
#endif

namespace {

struct Runtime {
#define FIELD(name, version, parameters) Result(*name) parameters = nullptr;
  FUNCTIONS(FIELD)
};
Runtime hip;

template <class Function>
void put(Function*& field, void* function, const char* name) {
  if (function == nullptr) {
    std::fprintf(stderr, "there is no %s\n", name);
    std::exit(2);
  }
  field = reinterpret_cast<Function*>(function);
}

void find_runtime(const char* how) {
#ifdef JOB_IS_LINKED
  if (std::strcmp(how, "linked") == 0) {
#define LINKED(name, version, parameters) put(hip.name, reinterpret_cast<void*>(&::name), #name);
    FUNCTIONS(LINKED)
    return;
  }
#endif
  void* library = dlopen("libamdhip64.so.6", RTLD_NOW);
  using Ask = Result (*)(const char*, void**, int, Flags, void*);
  const auto ask = reinterpret_cast<Ask>(dlsym(library, "hipGetProcAddress"));
  const auto find = [&](const char* name, const char* version) {
    void* found = nullptr;
    if (std::strcmp(how, "proc") == 0) return ask(name, &found, 60443484, 0, nullptr) == success ? found : nullptr;
    return std::strcmp(how, "dlvsym") == 0 ? dlvsym(library, name, version) : dlsym(library, name);
  };
#define FOUND(name, version, parameters) put(hip.name, find(#name, version), #name);
  FUNCTIONS(FOUND)
}

bool keeps_last_error() {
  static const bool keeps = [] {
    const char* version = std::getenv("EMULATED_HIP_VERSION");
    return version != nullptr && std::atoi(version) >= 7;
  }();
  return keeps;
}

thread_local Result expected_error = success;
Result checked(Result result, const char* what) {
  if (result != success || !keeps_last_error()) expected_error = result;
  if (const Result found = hip.hipPeekAtLastError(); found != expected_error) {
    std::fprintf(stderr, "after %s, which returned %d, the last error is %d instead of %d\n", what, result, found,
                 expected_error);
    std::exit(3);
  }
  return result;
}
void read_last_error() {
  if (hip.hipGetLastError() != expected_error) std::exit(3);
  expected_error = success;
}
#define CALL(name, ...) checked(hip.name(__VA_ARGS__), #name)

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
constexpr std::size_t kept_blocks = 16;  // Once there were this many blocks, there are never fewer.

struct Shared {
  std::mutex mutex;
  std::vector<Block> blocks;
  std::array<std::int64_t, devices> in_use{};
  Counts counts;
};

class Worker {
 public:
  Worker(Shared& shared, std::uint64_t seed) : shared_(shared), random_(seed) {}
  void run(std::uint64_t operations) {
    for (std::uint64_t i = 0; i < operations; ++i) {
      if (random_() % 64 == 0) CALL(hipSetDevice, device_ = static_cast<Device>(random_() % devices));
      if (random_() % 64 == 0) read_last_error();
      if (random_() % 16 == 0) CALL(hipLaunchKernel, nullptr, {1, 1, 1}, {64, 1, 1}, nullptr, 0, nullptr);
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

 private:
  void take() {
    Block block;
    block.kind = static_cast<Block::Kind>(random_() % 6);
    block.device = device_;
    block.bytes = 512 * (1 + random_() % 8) - random_() % 100;
    Result result = success;
    switch (block.kind) {
      case Block::Kind::sync: result = CALL(hipMalloc, &block.address, block.bytes); break;
      case Block::Kind::async: result = CALL(hipMallocAsync, &block.address, block.bytes, nullptr); break;
      case Block::Kind::managed: result = CALL(hipMallocManaged, &block.address, block.bytes, 1); break;
      case Block::Kind::array: {
        const ChannelFormat format{{32, 0, 0, 0}, 2};
        result = CALL(hipMallocArray, reinterpret_cast<Object*>(&block.address), &format, block.bytes, 0, 0);
        block.bytes *= 4;
        break;
      }
      case Block::Kind::host:
        result = CALL(hipHostMalloc, reinterpret_cast<void**>(&block.address), block.bytes, 0);
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
    if (const Result result = CALL(hipMemCreate, &block.handle, block.bytes, &properties, 0); result != success)
      return result;
    CALL(hipMemAddressReserve, &block.address, block.bytes, 0, 0, 0);
    CALL(hipMemMap, block.address, block.bytes, 0, block.handle, 0);
    return CALL(hipMemRelease, block.handle);
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
      case Block::Kind::managed: CALL(hipFree, block.address); break;
      case Block::Kind::async: CALL(hipFreeAsync, block.address, nullptr); break;
      case Block::Kind::array: CALL(hipFreeArray, reinterpret_cast<Object>(block.address)); break;
      case Block::Kind::host: CALL(hipHostFree, reinterpret_cast<void*>(block.address)); break;
      case Block::Kind::physical:
        CALL(hipMemUnmap, block.address, block.bytes);
        CALL(hipMemAddressFree, block.address, block.bytes);
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
  find_runtime(argv[1]);
  const auto threads = static_cast<std::uint64_t>(std::atoll(argv[2]));
  const auto operations = static_cast<std::uint64_t>(std::atoll(argv[3]));
  const auto seed = static_cast<std::uint64_t>(std::atoll(argv[4]));
  Shared shared;
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
