#include "collector/inject/driver_rows.h"

#include <atomic>

#include "collector/inject/collector.h"
#include "collector/inject/device_uuids.h"
#include "collector/inject/driver_graphs.h"
#include "collector/inject/driver_objects.h"
#include "collector/inject/driver_owners.h"
#include "collector/inject/driver_pools.h"
#include "collector/inject/hip_calls.h"
#include "collector/inject/line.h"
#include "collector/inject/nvtx_marks.h"

namespace hbmscope::inject {
namespace {

using driver::devices_max, driver::host_place, driver::managed_place;

// Ids that the rings assigned, or 0 before that. A child starts without any after fork().
struct Known {
  std::atomic<std::uint32_t> texts[entry_count];
  std::atomic<std::uint32_t> heaps[driver::heap_places];
  SpinLock heaps_lock;
};
Known known;

std::uint32_t text_of(Entry entry) {
  std::atomic<std::uint32_t>& text = known.texts[static_cast<std::size_t>(entry)];
  std::uint32_t id = text.load(std::memory_order_relaxed);
  if (id == 0) text.store(id = rings.define_string(name_of(entry)), std::memory_order_relaxed);
  return id;
}

std::uint32_t define_heap(std::size_t index) {
  wire::HeapRecord heap;
  heap.layer = static_cast<std::uint8_t>(wire::Layer::physical);
  heap.flags = wire::heap_flag::has_requested | wire::heap_flag::has_addresses;
  if (!came_late()) heap.flags |= wire::heap_flag::is_complete_at_start;
  heap.device = index < devices_max ? static_cast<std::uint32_t>(index) : wire::no_device;
  if (index == managed_place) return rings.define_heap(heap, "managed memory", "managed");
  if (index == host_place) return rings.define_heap(heap, "pinned host memory", "host_pinned");
  if (const char* uuid = driver::uuid_of(static_cast<cuda::Device>(index))) heap.uuid = rings.define_string(uuid);
  Line name;
  return rings.define_heap(heap, name.add("GPU ").add_number(static_cast<unsigned>(index)).add(" memory").text,
                           "device");
}

DriverObjects<256> streams;  // Their positions are their numbers.
DevicesOfStreams devices_of_streams;

// 0: the default stream, of either kind.
std::uint32_t number_of_stream(cuda::Object stream) {
  constexpr std::uintptr_t special_streams = 2;  // CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
  if (reinterpret_cast<std::uintptr_t>(stream) <= special_streams) return 0;
  return static_cast<std::uint32_t>(streams.find_or_add(stream) + 1);
}

template <class Record>
void report(Record record, std::uint64_t ticks = 0) {
  rings.add_of_driver(record, ticks);
}

}  // namespace

bool is_observed() {
  return rings.is_open() || open_rings();
}

void forget_driver_ids() {
  for (auto& text : known.texts) text.store(0, std::memory_order_relaxed);
  for (auto& heap : known.heaps) heap.store(0, std::memory_order_relaxed);
  known.heaps_lock.unlock();
  driver::forget_uuid_lock();
  driver::forget_graphs();
  driver::forget_pool_figures();
  driver::forget_reported_variables();
  nvtx::forget_ids();
}

// If the driver may be queried here, it has returned and holds none of its locks.
cuda::Device DriverCall::device() const {
  if (known_device >= 0) return known_device;
  cuda::Device found = 0;
  if (ask(Helper::device, &found) == cuda::success) return found;
  return is_hip() ? driver::remembered_device() : 0;
}

cuda::Object DriverCall::context() const {
  if (is_hip()) return driver::context_of_device(device());
  if (!may_ask_driver()) return known_context;
  cuda::Object found = nullptr;
  return ask(Helper::context, &found) == cuda::success ? found : nullptr;
}

std::uint64_t DriverCall::free_bytes() const {
  cuda::Size free = 0, total = 0;
  if (is_hip()) return driver::find_free_bytes_after_failure(free) ? free : wire::unknown_bytes;
  const bool is_reported = may_ask_driver() && ask(Helper::free_memory, &free, &total) == cuda::success;
  return is_reported ? free : wire::unknown_bytes;
}

void DriverCall::refuse(RefusedRequest request) const {
  const std::uint32_t heap_of_thread = driver::device_heap(*this);
  const std::uint32_t heap = request.heap == RefusedRequest::of_the_thread ? heap_of_thread : request.heap;
  wire::DriverRefusalRecord record;
  record.requested = request.bytes;
  record.available = request.is_from_device && heap == heap_of_thread ? free_bytes() : wire::unknown_bytes;
  record.heap = heap;
  record.call = text_of(entry);
  record.error = cuda::error_out_of_memory;
  record.stack = take_stack();
  report(record);
}

namespace driver {

std::size_t index_of_device(Device device) {
  return device >= 0 && static_cast<std::size_t>(device) < devices_max ? static_cast<std::size_t>(device) : 0;
}

std::size_t index_of_location(Location location) {
  return location.type >= LocationType::host && location.type <= LocationType::host_numa_current
             ? host_place
             : index_of_device(location.id);
}

std::size_t index_of_stream(const DriverCall& call, Object stream) {
  const int device = devices_of_streams.find(stream);
  return device < 0 ? index_of_device(call.device()) : static_cast<std::size_t>(device);
}

std::uint32_t heap_at(std::size_t place) {
  std::atomic<std::uint32_t>& heap = known.heaps[place];
  if (const std::uint32_t id = heap.load(std::memory_order_acquire)) return id;
  known.heaps_lock.lock();
  if (heap.load(std::memory_order_relaxed) == 0) heap.store(define_heap(place), std::memory_order_release);
  known.heaps_lock.unlock();
  return heap.load(std::memory_order_relaxed);
}

Device device_of_heap(std::uint32_t heap) {
  Device device = 0;
  while (static_cast<std::size_t>(device) < devices_max && known.heaps[device].load(std::memory_order_relaxed) != heap)
    ++device;
  return device;
}

std::uint32_t device_heap(Device device) {
  return heap_at(index_of_device(device));
}
std::uint32_t device_heap(const DriverCall& call) {
  return device_heap(call.device());
}
std::uint32_t managed_heap() {
  return heap_at(managed_place);
}
std::uint32_t host_heap() {
  return heap_at(host_place);
}

void note_stream(const DriverCall& call, Object stream) {
  devices_of_streams.note(stream, static_cast<unsigned>(index_of_device(call.device())));
}
void forget_stream(Object stream) {
  devices_of_streams.forget(stream);
}

static wire::AllocRecord block(const DriverCall& call, std::uint32_t heap, Address at, Size bytes, Size requested) {
  wire::AllocRecord record;
  record.address = at;
  record.size = bytes;
  record.requested = requested;
  record.heap = heap;
  record.stack = take_stack();
  record.tag = text_of(call.entry);
  record.flags = wire::driver_block;
  return record;
}

static void report_of_context(const DriverCall& call, wire::AllocRecord record) {
  const auto is_at = [&record](std::size_t place) {
    return known.heaps[place].load(std::memory_order_relaxed) == record.heap;
  };
  const bool outlives_context = call.is_hip() && (is_at(managed_place) || is_at(host_place));
  if (!outlives_context) record.flags |= flags_of_owner(number_of_context(call));
  report(record);
}

namespace {

std::atomic<void (*)()> watcher{nullptr};

void note_new_memory() {
  if (auto* const tell = watcher.load(std::memory_order_acquire)) tell();
}

}  // namespace

void watch_new_memory(void (*tell)()) {
  watcher.store(tell, std::memory_order_release);
}

void report_block_in(std::uint32_t heap, const DriverCall& call, Address at, Size bytes, Size requested) {
  if (at == 0) return;
  report_of_context(call, block(call, heap, at, bytes, requested));
  note_new_memory();
}

bool report_stream_block(std::uint32_t heap, const DriverCall& call, Address at, Size bytes, Object stream) {
  if (at == 0) return false;
  wire::AllocRecord record = block(call, heap, at, bytes, bytes);
  const bool is_node = is_captured(call, stream);
  if (is_node) {
    record.size = record.requested = 0;  // The call allocates nothing; its address belongs to no block.
    note_graph_memory();
  }
  record.stream = number_of_stream(stream);
  if (call.is_hip()) record.flags |= flags_of_owner(number_of_context(context_of_device(device_of_heap(heap))));
  report(record);
  return !is_node;
}

void report_array(const DriverCall& call, Object array, Size bytes) {
  wire::AllocRecord record = block(call, device_heap(call), number_of(array), bytes, bytes);
  record.flags |= wire::named_by_handle;
  report_of_context(call, record);
}

void report_host_block(const DriverCall& call, void* at, Size bytes) {
  report_block_in(host_heap(), call, number_of(at), bytes, bytes);
}

void report_variable(std::uint32_t heap, const DriverCall& call, Object module, Address at, Size bytes,
                     const char* name) {
  if (at == 0 || bytes == 0) return;
  const Variable variable = note_variable(call, module, at);
  if (variable.is_reported) return;
  wire::AllocRecord record = block(call, heap, at, bytes, bytes);
  record.flags |= wire::of_module | flags_of_owner(variable.owner);
  report(record);
  if (!variable.is_kept) return;  // It may be requested any number of times, and each definition needs room.
  wire::AttributeRecord attribute;
  attribute.allocation = at;
  attribute.key = rings.define_string("variable");
  attribute.value = rings.define_string(name);
  report(attribute);
}

static void report_free_in(std::uint32_t heap, const DriverCall& call, Address at) {
  if (at == 0) return;
  wire::FreeAtRecord record;
  record.address = at;
  record.heap = heap;
  record.stack = rings.freeing_stack();
  report(record, call.since);
}
void report_free(const DriverCall& call, Address at) {
  report_free_in(wire::block_at, call, at);
}
void report_array_free(const DriverCall& call, Object array) {
  report_free_in(wire::block_of_handle, call, number_of(array));
}
void report_host_free(const DriverCall& call, void* at) {
  report_free_in(wire::block_at_or_in | host_heap(), call, number_of(at));
}

void create(MemHandle handle, Size bytes, Location location) {
  wire::PhysicalCreateRecord record;
  record.handle = handle;
  record.size = bytes;
  record.heap = heap_at(index_of_location(location));
  record.stack = take_stack();
  report(record);
  note_new_memory();
}

void create_view(MemHandle handle) {
  wire::PhysicalCreateRecord record;
  record.handle = handle;
  report(record);
}

void import(const DriverCall& call, MemHandle handle, std::uint64_t bytes) {
  wire::PhysicalImportRecord record;
  record.handle = handle;
  record.size = bytes;
  record.heap = device_heap(call);
  record.stack = take_stack();
  report(record);
}

void note_export(MemHandle handle) {
  wire::PhysicalExportRecord record;
  record.handle = handle;
  report(record);
}

void release(const DriverCall& call, MemHandle handle) {
  wire::PhysicalReleaseRecord record;
  record.handle = handle;
  report(record, call.since);
}

template <class Record>
static Record range_of(const DriverCall& call, Address at, Size bytes) {
  Record record;
  record.address = at;
  record.size = bytes;
  record.heap = device_heap(call);
  return record;
}

void map(const DriverCall& call, Address at, Size bytes, Size offset, MemHandle handle) {
  auto record = range_of<wire::MapRecord>(call, at, bytes);
  record.handle = handle;
  record.offset = offset;
  report(record);
}

void unmap(const DriverCall& call, Address at, Size bytes) {
  report(range_of<wire::UnmapRecord>(call, at, bytes), call.since);
}

void reserve(const DriverCall& call, Address at, Size bytes) {
  report(range_of<wire::ReserveRecord>(call, at, bytes));
}

void unreserve(const DriverCall& call, Address at, Size bytes) {
  report(range_of<wire::UnreserveRecord>(call, at, bytes), call.since);
}

// It has no handle here, so its address also serves as its handle.
void open_foreign(const DriverCall& call, std::uint32_t heap, Address at) {
  Address base = 0;
  Size bytes = 0;
  if (!call.may_ask_driver() || call.ask(Helper::range_of_address, &base, &bytes, at) != success) bytes = 0;
  wire::PhysicalImportRecord import;
  import.handle = at;
  import.size = bytes;
  import.heap = heap;
  import.stack = take_stack();
  report(import);
  if (bytes == 0) return;  // Only that it is foreign is known.
  wire::MapRecord map;
  map.address = at;
  map.size = bytes;
  map.handle = at;
  map.heap = heap;
  report(map);
}

void close_foreign(const DriverCall& call, Address at) {
  report_free(call, at);
}

void note_sharing(const DriverCall& call, Address at) {
  wire::AttributeRecord record;
  record.allocation = at;
  record.key = rings.define_string("shared with another process by");
  record.value = text_of(call.entry);
  report(record);
}

Size array_bytes(unsigned format, unsigned channels, unsigned flags, Size width, Size height, Size depth,
                 unsigned levels) {
  if ((flags & (array_flag::sparse | array_flag::deferred_mapping)) != 0) return 0;  // Its memory comes from a mapping.
  // Bytes of an element, or, if `block` is 4, of a block of 4 x 4 elements (BC1 to BC7).
  Size element = 0, block = 1;
  switch (format) {
    case 0x01:  // Eight bits a channel, signed and unsigned.
    case 0x08: element = channels; break;
    case 0x02:
    case 0x09:
    case 0x10: element = Size{channels} * 2; break;
    case 0x03:
    case 0x0a:
    case 0x20: element = Size{channels} * 4; break;
    case 0xc0:  // Normalized: one, two or four channels of eight bits, then of sixteen.
    case 0xc6: element = 1; break;
    case 0xc1:
    case 0xc3:
    case 0xc7:
    case 0xc9: element = 2; break;
    case 0x50:
    case 0xc2:
    case 0xc4:
    case 0xc8:
    case 0xca: element = 4; break;
    case 0xc5:
    case 0xcb: element = 8; break;
    default:
      if (format < 0x91 || format > 0x9e) return width * (height > 0 ? height : 1) * (depth > 0 ? depth : 1) * channels;
      block = 4;
      element = format <= 0x92 || format == 0x97 || format == 0x98 ? 8 : 16;
      break;
  }
  return array_bytes({element, block}, flags, width, height, depth, levels);
}

Size array_bytes(ArrayElement of, unsigned flags, Size width, Size height, Size depth, unsigned levels) {
  const auto at_least_1 = [](Size extent) { return extent > 0 ? extent : 1; };
  const auto blocks = [block = of.block](Size extent) { return (extent + block - 1) / block; };
  const bool is_layered = (flags & array_flag::layered) != 0;
  Size bytes = 0;
  for (unsigned level = 0; level < levels && level < 32; ++level) {
    const Size layers = at_least_1(is_layered ? depth : depth >> level);
    bytes += blocks(at_least_1(width >> level)) * blocks(at_least_1(height >> level)) * layers * of.bytes;
    if (width >> level <= 1 && height >> level <= 1 && (is_layered || depth >> level <= 1)) break;
  }
  return bytes;
}

}  // namespace driver
}  // namespace hbmscope::inject
