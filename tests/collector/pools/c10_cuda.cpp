// What PyTorch's libc10_cuda.so does: each block is reported, under the allocator's lock.
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace c10 {

struct Device {
  std::int8_t type, index;
};
void reportMemoryUsageToProfiler(void* block, std::int64_t bytes, std::size_t allocated, std::size_t reserved, Device);
void reportOutOfMemoryToProfiler(std::int64_t bytes, std::size_t allocated, std::size_t reserved, Device);

}  // namespace c10

namespace {

std::mutex mutex;
std::map<std::uintptr_t, std::size_t> blocks;
std::size_t allocated = 0, reserved = 0;
std::uintptr_t next_address = std::uintptr_t{1} << 40;
constexpr c10::Device device{1, 0};

}  // namespace

extern "C" __attribute__((visibility("default"))) void* torch_allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex);
  if (bytes > std::size_t{1} << 40) {
    c10::reportOutOfMemoryToProfiler(static_cast<std::int64_t>(bytes), allocated, reserved, device);
    return nullptr;
  }
  const std::size_t size = (bytes + 511) / 512 * 512;
  blocks[next_address] = size;
  allocated += size;
  reserved += size;
  auto* block = reinterpret_cast<void*>(next_address);
  next_address += size;
  c10::reportMemoryUsageToProfiler(block, static_cast<std::int64_t>(size), allocated, reserved, device);
  return block;
}

extern "C" __attribute__((visibility("default"))) void torch_free(void* block) {
  const std::lock_guard lock(mutex);
  const auto found = blocks.find(reinterpret_cast<std::uintptr_t>(block));
  allocated -= found->second;
  c10::reportMemoryUsageToProfiler(block, -static_cast<std::int64_t>(found->second), allocated, reserved, device);
  blocks.erase(found);
}

extern "C" __attribute__((visibility("default"))) std::size_t torch_allocated() {
  const std::lock_guard lock(mutex);
  return allocated;
}
