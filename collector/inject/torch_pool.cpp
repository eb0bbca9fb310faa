#include "collector/inject/torch_pool.h"

#include <elf.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "collector/inject/collector.h"
#include "collector/inject/line.h"
#include "collector/inject/loaded_objects.h"
#include "collector/inject/patch.h"
#include "collector/inject/pool_rows.h"
#include "collector/inject/process_facts.h"
#include "collector/inject/python_agent.h"
#include "collector/inject/rings.h"
#include "collector/inject/torch_requests.h"

namespace hbmscope::inject {
namespace {

using pools::PoolFacts;

constexpr const char* usage_name = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";
constexpr const char* out_of_memory_name = "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE";

// c10::Device: the type in the low byte, the index in the next.
using Device = std::uint16_t;
bool is_gpu(Device device) {
  constexpr unsigned cuda = 1, hip = 6;
  const unsigned type = device & 0xffU;
  return type == cuda || type == hip;
}

using Usage = void (*)(void* block, std::int64_t bytes, std::size_t allocated, std::size_t reserved, Device device);
using OutOfMemory = void (*)(std::int64_t bytes, std::size_t allocated, std::size_t reserved, Device device);

// PyTorch's own, or null as long as they aren't found. They stay where they are: libc10 is never unloaded.
std::atomic<void*> next_usage{nullptr}, next_out_of_memory{nullptr};

void* find_once(std::atomic<void*>& known, const char* name) {
  void* found = known.load(std::memory_order_acquire);
  if (found == nullptr) known.store(found = find_function_in("libc10.so", name), std::memory_order_release);
  return found;
}

// An instance is named by a number here: there is one for each device.
const void* instance_of(Device device) {
  return reinterpret_cast<const void*>((static_cast<std::uintptr_t>(device) >> 8) + 1);
}

struct UsageCall {
  std::int64_t bytes;
  std::size_t allocated, reserved;  // After it.
};

void find_facts(const void* instance, const void* call, PoolFacts& facts) {
  if (call != nullptr) {
    const auto& usage = *static_cast<const UsageCall*>(call);
    facts.in_use_bytes = usage.allocated - static_cast<std::uint64_t>(usage.bytes);
    facts.pool_bytes = usage.reserved;
  }
  facts.device = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(instance) - 1);
  facts.framework = pools::Framework::torch;
  facts.has_requested = are_torch_requests_known();
  note_variables(static_cast<unsigned>(wire::Reader::torch) | static_cast<unsigned>(wire::Reader::driver));
  Line name;
  std::strcpy(facts.name, name.add("GPU ").add_number(facts.device).add(" PyTorch pool").text);
}

// Under the allocator's lock, so the order is certain.
void report_usage(void* block, const UsageCall& usage, Device device) {
  const pools::PoolCall call;
  if (!call.is_reported()) return;
  const std::int64_t bytes = usage.bytes;
  track_torch_requests(true);
  const std::uint32_t heap = pools::heap_of(instance_of(device), find_facts, &usage);
  if (heap == 0) return;
  if (bytes > 0)
    pools::report_block(heap, reinterpret_cast<std::uintptr_t>(block), static_cast<std::uint64_t>(bytes),
                        torch_request_of(static_cast<unsigned>(device) >> 8, reinterpret_cast<std::uintptr_t>(block)));
  else if (bytes < 0)
    pools::report_free(heap, reinterpret_cast<std::uintptr_t>(block), static_cast<std::uint64_t>(-bytes));
  wake_agent(Occasion::use);
}

void usage_instead(void* block, std::int64_t bytes, std::size_t allocated, std::size_t reserved, Device device) {
  if (is_gpu(device)) report_usage(block, {bytes, allocated, reserved}, device);
  if (void* next = find_once(next_usage, usage_name))
    reinterpret_cast<Usage>(next)(block, bytes, allocated, reserved, device);
}

void out_of_memory_instead(std::int64_t bytes, std::size_t allocated, std::size_t reserved, Device device) {
  if (is_gpu(device)) {
    const pools::PoolCall call;
    if (call.is_reported())
      if (const std::uint32_t heap = pools::heap_of(instance_of(device), find_facts))
        pools::report_out_of_memory(heap, static_cast<std::uint64_t>(bytes), "OutOfMemoryError");
  }
  if (void* next = find_once(next_out_of_memory, out_of_memory_name))
    reinterpret_cast<OutOfMemory>(next)(bytes, allocated, reserved, device);
}

// A library's slot for a function of another one.
struct Slot {
  std::uintptr_t* at = nullptr;
  std::uintptr_t original = 0;
};
constexpr std::size_t slots_max = 8;
Slot slots[slots_max];
std::size_t slot_count = 0;
SpinLock looking;

std::uintptr_t stand_in(const char* name) {
  if (std::strcmp(name, usage_name) == 0) return reinterpret_cast<std::uintptr_t>(&usage_instead);
  if (std::strcmp(name, out_of_memory_name) == 0) return reinterpret_cast<std::uintptr_t>(&out_of_memory_instead);
  return 0;
}

void take_slot(const FunctionSlot& slot) {
  const std::uintptr_t ours = stand_in(slot.name);
  if (ours == 0 || slot_count == slots_max) return;
  // Bound to us already, or to a tool in front of PyTorch that forwards to it.
  if (*slot.at == ours ||
      find_function_in_object_of(reinterpret_cast<const void*>(ours), slot.name) == reinterpret_cast<void*>(*slot.at))
    return;
  slots[slot_count++] = {slot.at, *slot.at};
  store_word(slot.at, ours);
}

bool is_cuda_library(const char* path) {
  const char* file = file_name_of(path);
  return std::strcmp(file, "libc10_cuda.so") == 0 || std::strcmp(file, "libc10_hip.so") == 0;
}

}  // namespace

void look_for_torch_pools() {
  if (!came_late() || !looking.try_lock()) return;
  if (slot_count == 0) for_each_function_slot(is_cuda_library, take_slot);
  looking.unlock();
}

void leave_torch_pools() {
  looking.lock();
  for (std::size_t i = 0; i < slot_count; ++i)
    if (is_loaded(slots[i].at)) store_word(slots[i].at, slots[i].original);
  slot_count = 0;
  looking.unlock();
}

void forget_torch_pool_locks() {
  looking.unlock();
}

}  // namespace hbmscope::inject

// libc10_cuda.so finds these by name, in a job that was started with this library.
extern "C" __attribute__((visibility("default"))) void hbmscope_torch_usage(
    void* block, std::int64_t bytes, std::size_t allocated, std::size_t reserved,
    std::uint16_t device) __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
extern "C" void hbmscope_torch_usage(void* block, std::int64_t bytes, std::size_t allocated, std::size_t reserved,
                                     std::uint16_t device) {
  hbmscope::inject::usage_instead(block, bytes, allocated, reserved, device);
}
extern "C" __attribute__((visibility("default"))) void hbmscope_torch_out_of_memory(
    std::int64_t bytes, std::size_t allocated, std::size_t reserved,
    std::uint16_t device) __asm__("_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE");
extern "C" void hbmscope_torch_out_of_memory(std::int64_t bytes, std::size_t allocated, std::size_t reserved,
                                             std::uint16_t device) {
  hbmscope::inject::out_of_memory_instead(bytes, allocated, reserved, device);
}
