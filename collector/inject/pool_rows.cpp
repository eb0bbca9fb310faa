#include "collector/inject/pool_rows.h"

#include <atomic>
#include <cstring>
#include <string_view>

#include "collector/inject/collector.h"
#include "collector/inject/device_memory.h"
#include "collector/inject/device_uuids.h"
#include "collector/inject/driver_rows.h"
#include "collector/inject/process_facts.h"
#include "collector/inject/python_agent.h"
#include "collector/inject/rings.h"
#include "collector/inject/stacks.h"
#include "collector/wire/reported_names.h"

namespace hbmscope::inject::pools {
namespace {

constexpr std::size_t instances_max = 128;
const char gone = 0;  // Its address stands for an instance that has ended.

struct Instance {
  std::atomic<const void*> is{nullptr};  // Null: free, and never used.
  std::atomic<std::uint32_t> heap{0};
  std::atomic<std::uint32_t> place{0};  // place_of(), if its memory is a device's.
};
Instance instances[instances_max];
SpinLock instances_lock;

constexpr std::uint32_t place_device = 0xffff;  // The bits of the device.
std::uint32_t place_of(Framework framework, std::uint32_t device) {
  return (static_cast<std::uint32_t>(framework) + 1) << 16 | (device & place_device);
}

// The place of the instance, or null.
Instance* find(const void* instance) {
  for (Instance& one : instances) {
    const void* is = one.is.load(std::memory_order_acquire);
    if (is == instance) return &one;
    if (is == nullptr) return nullptr;
  }
  return nullptr;
}

void report_figure(std::uint32_t heap, std::string_view name, std::uint64_t bytes) {
  if (bytes == wire::unknown_bytes) return;
  wire::CounterRecord record;
  record.value = static_cast<std::int64_t>(bytes);
  record.name = text_of(name.data());
  record.heap = heap;
  rings.add_of_driver(record);
}

std::uint32_t define(const PoolFacts& facts) {
  wire::HeapRecord heap;
  const bool has_addresses = facts.framework != Framework::arrays;
  heap.layer = static_cast<std::uint8_t>(has_addresses ? wire::Layer::pool : wire::Layer::framework);
  if (has_addresses) heap.flags |= wire::heap_flag::has_addresses;
  if (facts.has_two_ends) heap.flags |= wire::heap_flag::has_two_ends;
  if (facts.has_requested) heap.flags |= wire::heap_flag::has_requested;
  // Memory of malloc is not the driver's. What the driver had given before an attach is not known.
  const bool is_of_driver = has_addresses && std::strcmp(facts.memory_kind, "host") != 0;
  if (is_of_driver) heap.flags |= wire::heap_flag::is_inside_of_driver;
  if (is_of_driver && !came_late()) heap.flags |= wire::heap_flag::has_regions;
  if (!came_late()) heap.flags |= wire::heap_flag::is_complete_at_start;
  heap.device = facts.device;
  if (facts.device != wire::no_device && std::strcmp(facts.memory_kind, "device") == 0)
    if (const char* uuid = driver::uuid_of(static_cast<int>(facts.device))) heap.uuid = rings.define_string(uuid);
  const std::uint32_t id = rings.define_heap(heap, facts.name, facts.memory_kind);
  if (id == 0) return 0;
  report_figure(id, wire::reported_limit, facts.limit_bytes);
  if (has_addresses && std::strcmp(facts.memory_kind, "device") == 0)
    report_figure(id, wire::reported_device, driver::total_bytes_of(facts.device));
  if (came_late()) {
    report_figure(id, wire::in_use_before, facts.in_use_bytes);
    report_figure(id, wire::reported_pool, facts.pool_bytes);
  }
  return id;
}

// The device of a pool with device memory; else no_device.
std::uint32_t device_of(std::uint32_t heap) {
  for (const Instance& one : instances) {
    if (one.is.load(std::memory_order_acquire) == nullptr) break;
    const std::uint32_t place = one.place.load(std::memory_order_relaxed);
    if (one.heap.load(std::memory_order_acquire) == heap && place != 0) return place & place_device;
  }
  return wire::no_device;
}

}  // namespace

std::uint32_t heap_of(const void* instance, FindFacts find_facts, const void* call) {
  Instance* known = find(instance);
  if (known != nullptr)
    if (const std::uint32_t heap = known->heap.load(std::memory_order_acquire)) return heap;
  instances_lock.lock();
  known = find(instance);
  for (std::size_t i = 0; known == nullptr && i < instances_max; ++i) {
    const void* is = instances[i].is.load(std::memory_order_relaxed);
    if (is == nullptr || is == &gone) known = &instances[i];
  }
  std::uint32_t heap = 0;
  if (known != nullptr) {
    heap = known->heap.load(std::memory_order_relaxed);
    if (heap == 0) {
      PoolFacts facts;
      find_facts(instance, call, facts);
      heap = define(facts);
      const bool is_of_device = std::strcmp(facts.memory_kind, "device") == 0;
      known->place.store(is_of_device ? place_of(facts.framework, facts.device) : 0, std::memory_order_relaxed);
    }
    known->heap.store(heap, std::memory_order_relaxed);
    known->is.store(instance, std::memory_order_release);
  }
  instances_lock.unlock();
  return heap;
}

void report_block(std::uint32_t heap, std::uint64_t address, std::uint64_t bytes, std::uint64_t requested,
                  std::uint32_t flags) {
  wire::AllocRecord record;
  record.flags = flags;
  record.address = address;
  record.size = bytes;
  record.requested = requested;
  record.heap = heap;
  record.stack = take_stack();
  record.tag = rings.tag();
  rings.add_of_driver(record);
}

std::uint32_t heap_on(Framework framework, std::uint32_t device) {
  const std::uint32_t wanted = place_of(framework, device);
  std::uint32_t found = 0;
  for (const Instance& one : instances) {
    if (one.is.load(std::memory_order_acquire) == nullptr) break;
    const std::uint32_t heap = one.heap.load(std::memory_order_acquire);
    if (heap == 0 || one.place.load(std::memory_order_relaxed) != wanted) continue;
    if (found != 0) return 0;
    found = heap;
  }
  return found;
}

void report_block_from_before(std::uint32_t heap, std::uint64_t address, std::uint64_t bytes, std::uint64_t requested) {
  wire::LiveRecord record;
  record.address = address;
  record.size = bytes;
  record.requested = requested;
  record.heap = heap;
  rings.add_of_driver(record);
}

void report_list(bool begins) {
  report_figure(0, wire::lists_blocks_from_before, begins ? 1 : 0);
}

void report_free(std::uint32_t heap, std::uint64_t address, std::uint64_t bytes) {
  wire::FreeAtRecord record;
  record.address = address;
  record.size = bytes;
  record.heap = heap;
  rings.add_of_driver(record);
}

void report_out_of_memory(std::uint32_t heap, std::uint64_t requested, const char* reason) {
  note_variables(0);  // A variable that was set too late may be why.
  wire::OutOfMemoryRecord record;
  record.requested = requested;
  record.available = driver::free_bytes_of(device_of(heap));
  record.heap = heap;
  record.stack = take_stack();
  record.reason = rings.define_string(reason);
  rings.add_of_driver(record);
  wake_agent(Occasion::failure);
}

void report_refusal(std::uint32_t heap, std::uint64_t requested, const char* call) {
  wire::DriverRefusalRecord record;
  record.requested = requested;
  record.available = wire::unknown_bytes;
  record.heap = heap;
  record.call = rings.define_string(call);
  record.stack = take_stack();
  rings.add_of_driver(record);
}

void report_end(const void* instance) {
  instances_lock.lock();
  std::uint32_t heap = 0;
  if (Instance* known = find(instance)) {
    heap = known->heap.exchange(0, std::memory_order_relaxed);
    known->is.store(&gone, std::memory_order_release);
  }
  instances_lock.unlock();
  if (heap == 0 || !rings.is_open()) return;
  wire::HeapGoneRecord record;
  record.heap = heap;
  rings.add_of_driver(record);
}

void report_attribute(std::uint64_t address, std::uint32_t key, std::uint32_t value) {
  if (key == 0 || value == 0) return;  // There was no room for another text.
  wire::AttributeRecord record;
  record.allocation = address | wire::block_of_pool;
  record.key = key;
  record.value = value;
  rings.add_of_driver(record);
}

namespace {

// Open addressing by a hash of the text, which is long enough to stand for it.
struct Text {
  std::atomic<std::uint64_t> hash{0};  // 0: free.
  std::atomic<std::uint32_t> id{0};
};
constexpr std::size_t texts_max = 65536;
Text texts[texts_max];
SpinLock texts_lock;

std::uint64_t hash_of(const char* text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (; *text != 0; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3U;
  return hash | 1;
}

}  // namespace

std::uint32_t text_of(const char* text) {
  const std::uint64_t hash = hash_of(text);
  for (std::size_t i = 0, at = hash % texts_max; i < 64; ++i, at = (at + 1) % texts_max) {
    std::uint64_t found = texts[at].hash.load(std::memory_order_acquire);
    if (found == hash) return texts[at].id.load(std::memory_order_relaxed);
    if (found != 0) continue;
    texts_lock.lock();
    found = texts[at].hash.load(std::memory_order_relaxed);
    if (found == 0) {
      texts[at].id.store(rings.define_string(text), std::memory_order_relaxed);
      texts[at].hash.store(found = hash, std::memory_order_release);
    }
    texts_lock.unlock();
    if (found == hash) return texts[at].id.load(std::memory_order_relaxed);
  }
  return 0;
}

void forget_ids() {
  instances_lock.unlock();
  texts_lock.unlock();
  for (Text& text : texts) text.hash.store(0, std::memory_order_relaxed);
  for (Instance& one : instances) one.heap.store(0, std::memory_order_relaxed);
}

PoolCall::PoolCall() : is_outermost_((thread_word & in_pool_call) == 0), is_reported_(false) {
  if (!is_outermost_) return;
  thread_word |= in_pool_call;
  is_reported_ = is_observed();
}

PoolCall::~PoolCall() {
  if (is_outermost_) thread_word &= ~in_pool_call;
}

}  // namespace hbmscope::inject::pools
