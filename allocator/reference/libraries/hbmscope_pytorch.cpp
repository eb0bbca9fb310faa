#include "allocator/reference/libraries/hbmscope_pytorch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>

#include "allocator/reference/libraries/device_pool.h"

namespace hbmscope::allocator {
namespace {

constexpr int devices_max = 64;

// Never destroyed: programs free memory while they exit, and the driver may be unloaded by then.
struct Pools {
  std::array<std::atomic<DevicePool*>, devices_max> open{};
  std::mutex mutex;
  std::map<int, std::string> refused;  // By device. A device that could not be opened once is not tried again.
};
Pools& pools() {
  static Pools* const all = new Pools;
  return *all;
}

struct Reason {
  char text[512] = "";
  void set(const char* why) {
    const std::size_t length = std::min(std::strlen(why), sizeof(text) - 1);
    std::memcpy(text, why, length);
    text[length] = 0;
  }
};
thread_local Reason reason;

class RequestFailed final : public std::bad_alloc {
 public:
  explicit RequestFailed(const char* why) { why_.set(why); }
  const char* what() const noexcept override { return why_.text; }

 private:
  Reason why_;
};

void print_once(std::atomic<bool>& is_printed, const char* why) {
  if (!is_printed.exchange(true)) std::fprintf(stderr, "hbmscope: %s\n", why);
}

tl::expected<DevicePool*, std::string> pool_of(int device) {
  if (device < 0 || device >= devices_max) return tl::unexpected("there is no device " + std::to_string(device));
  auto& open = pools().open[static_cast<std::size_t>(device)];
  if (DevicePool* const pool = open.load(std::memory_order_acquire)) return pool;
  const std::scoped_lock lock(pools().mutex);
  if (DevicePool* const pool = open.load(std::memory_order_acquire)) return pool;
  if (const auto found = pools().refused.find(device); found != pools().refused.end())
    return tl::unexpected(found->second);
  auto made = DevicePool::open(device, pool_words_from_environment());
  if (!made) {
    pools().refused[device] = made.error();
    return tl::unexpected(made.error());
  }
  open.store(made->release(), std::memory_order_release);
  return open.load();
}

tl::expected<std::uint64_t, std::string> allocate(ssize_t bytes, int device, Stream stream) {
  reason.text[0] = 0;
  if (bytes == 0) return 0;
  if (bytes < 0) return tl::unexpected<std::string>("a request of less than 0 bytes");
  const auto pool = pool_of(device);
  if (!pool) return tl::unexpected(pool.error());
  return (*pool)->allocate(static_cast<std::uint64_t>(bytes), stream);
}

// For blocks that are named without their device.
template <class Use>
void find_pool_that(const Use& use) {
  for (auto& open : pools().open)
    if (DevicePool* const pool = open.load(std::memory_order_acquire); pool != nullptr && use(*pool)) return;
}

std::uint64_t number(const void* address) {
  return reinterpret_cast<std::uint64_t>(address);
}

}  // namespace
}  // namespace hbmscope::allocator

using namespace hbmscope::allocator;

extern "C" {

void* hbmscope_pytorch_malloc_or_throw(ssize_t bytes, int device, void* stream) {
  const auto got = allocate(bytes, device, stream);
  if (got) return reinterpret_cast<void*>(*got);
  reason.set(got.error().c_str());
  throw RequestFailed(reason.text);
}

void* hbmscope_pytorch_malloc(ssize_t bytes, int device, void* stream) noexcept try {
  static std::atomic<bool> is_printed{false};
  const auto got = allocate(bytes, device, stream);
  if (got) return reinterpret_cast<void*>(*got);
  reason.set(got.error().c_str());
  print_once(is_printed, reason.text);
  return nullptr;
} catch (const std::exception&) {
  reason.set("there is not enough memory on the host");
  return nullptr;
}

void hbmscope_pytorch_free(void* address, ssize_t, int device, void* stream) noexcept try {
  static std::atomic<bool> is_printed{false};
  if (address == nullptr) return;
  const auto pool = pool_of(device);
  if (!pool || !(*pool)->free(number(address), stream))
    print_once(is_printed, "a free of an address that is no block of its pool has no effect");
} catch (const std::exception&) {
  // The block stays taken.
}

const char* hbmscope_pytorch_error() noexcept {
  return reason.text;
}

void hbmscope_pytorch_record_stream(void* address, void* stream) noexcept try {
  if (address != nullptr) find_pool_that([&](DevicePool& pool) { return pool.record_stream(number(address), stream); });
} catch (const std::exception&) {
  // Only a failed lock can throw.
}

void hbmscope_pytorch_reset() noexcept try {
  find_pool_that([](DevicePool& pool) {
    pool.empty_cache();
    return false;
  });
} catch (const std::exception&) {
  // Memory that was not returned is still there.
}

}  // extern "C"

void hbmscope_pytorch_begin_allocate_to_pool(int, std::pair<unsigned long long, unsigned long long>,
                                             std::function<bool(void*)>) {
  throw std::runtime_error(
      "hbmscope's allocator has no memory pools for graphs (torch.cuda.graph, torch.cuda.MemPool): capture with "
      "PyTorch's own allocator");
}
void hbmscope_pytorch_end_allocate_to_pool(int, std::pair<unsigned long long, unsigned long long>) noexcept {}
void hbmscope_pytorch_release_pool(int, std::pair<unsigned long long, unsigned long long>) noexcept {}
