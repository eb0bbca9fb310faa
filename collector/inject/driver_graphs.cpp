#include "collector/inject/driver_graphs.h"

#include <atomic>
#include <cstring>

namespace hbmscope::inject::driver {
namespace {

// The memory that the driver holds, by device, as last recorded.
struct GraphMemory {
  std::atomic<bool> is_used;
  SpinLock lock;
  struct Held {
    std::atomic<std::uint64_t> bytes;
    std::uint32_t handles;
  } devices[devices_max];
};
GraphMemory graph_memory;
std::atomic<bool> has_captured{false};

std::uint64_t graph_handle(std::size_t device, std::uint32_t number) {
  constexpr int number_bits = 20;
  return wire::graph_handles + (device << number_bits) + (number & ((1U << number_bits) - 1));
}

}  // namespace

void note_graph_memory() {
  graph_memory.is_used.store(true, std::memory_order_relaxed);
}

void note_graph_node(const void* node) {
  int type = 0;
  std::memcpy(&type, node, sizeof(type));  // It is the first member.
  if (type == node_type::mem_alloc) note_graph_memory();
}

void report_graph_memory(const DriverCall& call) {
  if (graph_memory.is_used.load(std::memory_order_relaxed)) report_graph_memory(call, call.device());
}

// If two threads launch at once, one may leave the record to the next launch: no thread waits for another thread's row.
void report_graph_memory(const DriverCall& call, Device device) {
  if (!graph_memory.is_used.load(std::memory_order_relaxed) || !call.may_ask_driver()) return;
  const std::size_t index = index_of_device(device);
  GraphMemory::Held& held = graph_memory.devices[index];
  std::uint64_t bytes = 0;
  if (call.ask(Helper::graph_memory, device, graph_memory_reserved_now, &bytes) != success) return;
  if (bytes == held.bytes.load(std::memory_order_relaxed)) return;
  wire::PhysicalCreateRecord create;
  create.heap = device_heap(device);
  create.stack = take_stack();
  if (!graph_memory.lock.try_lock()) return;
  std::uint64_t reported = held.bytes.exchange(bytes, std::memory_order_relaxed);
  if (bytes < reported) {
    for (std::uint32_t number = 0; number < held.handles; ++number) {
      wire::PhysicalReleaseRecord release;
      release.handle = graph_handle(index, number);
      rings.add_of_driver(release);
    }
    held.handles = 0;
    reported = 0;
  }
  if (bytes > reported) {
    create.handle = graph_handle(index, held.handles++);
    create.size = bytes - reported;
    rings.add_of_driver(create);
  }
  graph_memory.lock.unlock();
}

void note_capture() {
  has_captured.store(true, std::memory_order_relaxed);
}

bool is_captured(const DriverCall& call, Object stream) {
  if (!has_captured.load(std::memory_order_relaxed) || !call.may_ask_driver()) return false;
  const bool is_of_thread =
      call.entry == Entry::cuMemAllocAsync_ptsz || call.entry == Entry::cuMemAllocFromPoolAsync_ptsz;
  constexpr std::uintptr_t oldest = 1, of_the_thread = 2;  // CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
  auto handle = reinterpret_cast<std::uintptr_t>(stream);
  if (handle == 0) handle = is_of_thread ? of_the_thread : oldest;
  if (handle == oldest) return false;  // This stream can't be captured.
  int status = 0;
  return call.ask(Helper::is_capturing, reinterpret_cast<Object>(handle), &status) == success && status != 0;
}

void forget_graphs() {
  graph_memory.lock.unlock();
  for (auto& held : graph_memory.devices) {
    held.bytes.store(0, std::memory_order_relaxed);
    held.handles = 0;
  }
}

}  // namespace hbmscope::inject::driver
