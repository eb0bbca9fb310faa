#include "collector/inject/driver_pools.h"

#include <limits>

#include "collector/inject/driver_objects.h"
#include "collector/inject/line.h"
#include "collector/wire/reported_names.h"

namespace hbmscope::inject::driver {
namespace {

constexpr std::size_t pools_max = 1024;
DriverObjects<pools_max> pools;  // Values: the index of the heap, and whose pool it is.
constexpr std::uint32_t is_hips = 1U << 16;
std::size_t heap_index_at(std::size_t place) {
  return pools.values[place].load() & (is_hips - 1);
}
Api api_at(std::size_t place) {
  return (pools.values[place].load() & is_hips) != 0 ? Api::hip : Api::cuda;
}

enum Figure : std::size_t { reserved, used, threshold, figure_count };
constexpr int attributes[] = {5, 7, 4};  // CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, USED_MEM_CURRENT, RELEASE_THRESHOLD
constexpr std::string_view endings[] = {wire::pool_reserved_ending, wire::pool_used_ending,
                                        wire::pool_threshold_ending};

// By the pool's place in `pools`. All but the flag is changed only under the lock of its heap.
struct Figures {
  std::atomic<bool> is_asked;         // Memory was taken from it, or may have been before an attach.
  std::atomic<bool> knows_threshold;  // It was not set since the last look.
  std::atomic<bool> is_retired;       // It is being destroyed.
  std::uint64_t reported[figure_count];
  std::uint32_t names[figure_count];
};
Figures figures[pools_max];
std::atomic<std::size_t> places_end{0};  // After the last pool that is queried.

struct PoolsOfHeap {
  std::atomic<std::uint32_t> wanted, done;  // Each change wants another look; several may be done by one.
  std::atomic<bool> wants_current, knows_current;
  std::atomic<Api> api;          // The last call's that wanted the current pool.
  std::atomic<bool> may_change;  // At the next synchronization.
  SpinLock looking;
};
PoolsOfHeap heaps[heap_places];
std::atomic<bool> do_any_wait{false};

void add_pool(Api api, Object pool, std::size_t heap) {
  const std::size_t place = pools.find_or_add(pool);
  if (place == pools.none) return;
  pools.values[place].store(static_cast<std::uint32_t>(heap) | (api == Api::hip ? is_hips : 0));
  figures[place].is_retired.store(false);
}

void begin_to_ask(std::size_t place) {
  figures[place].is_asked.store(true);
  std::size_t end = places_end.load();
  while (end <= place && !places_end.compare_exchange_weak(end, place + 1)) continue;
}

void report_figure(std::size_t place, std::size_t index, Figure which, std::uint64_t value) {
  Figures& of_pool = figures[place];
  if (of_pool.reported[which] == value) return;
  if (of_pool.names[which] == 0) {
    Line name;
    name.add(wire::pool_counter.data()).add_number(static_cast<unsigned>(place + 1)).add(endings[which].data());
    of_pool.names[which] = rings.define_string(name.text);
  }
  of_pool.reported[which] = value;
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  wire::CounterRecord record;
  record.value = static_cast<std::int64_t>(value < most ? value : most);
  record.name = of_pool.names[which];
  record.heap = heap_at(index);
  rings.add_of_driver(record);
}

// Returns whether the pool may free memory at the next synchronization.
bool look_at(std::size_t place, std::size_t index) {
  Object pool = pools.objects[place].load();
  std::uint64_t now[figure_count] = {};
  if (pool == nullptr) {
    figures[place].is_asked.store(false);  // It was destroyed.
  } else {
    if (figures[place].is_retired.load()) return false;
    const bool knows_threshold = figures[place].knows_threshold.exchange(true);
    now[threshold] = figures[place].reported[threshold];
    for (const Figure which : {reserved, used, threshold}) {
      if (which == threshold && knows_threshold) continue;
      if (ask_driver(api_at(place), Helper::pool_figure, pool, attributes[which], &now[which]) != success) return false;
    }
  }
  // In an order in which what is kept, their difference, is not too large between the two.
  const bool grows = now[reserved] > figures[place].reported[reserved];
  for (const Figure which : {grows ? used : reserved, grows ? reserved : used, threshold})
    report_figure(place, index, which, now[which]);
  return now[reserved] > now[used] && now[reserved] > now[threshold];
}

void find_current_pool(PoolsOfHeap& heap, std::size_t index) {
  if (heap.knows_current.load() || !heap.wants_current.load()) return;
  Object pool = nullptr;
  const Api api = heap.api.load();
  heap.knows_current.store(true);
  if (ask_driver(api, Helper::pool_of_device, &pool, static_cast<Device>(index)) != success) return;
  add_pool(api, pool, index);
  if (const std::size_t place = pools.find(pool); place != pools.none) begin_to_ask(place);
}

// No thread waits for another one: the thread that is looking looks again.
void look(std::size_t index) {
  PoolsOfHeap& heap = heaps[index];
  while (heap.wanted.load() != heap.done.load()) {
    if (!heap.looking.try_lock()) return;
    const std::uint32_t wanted = heap.wanted.load();
    find_current_pool(heap, index);
    bool may_change = false;
    for (std::size_t place = 0; place < places_end.load(); ++place)
      if (figures[place].is_asked.load() && heap_index_at(place) == index)
        may_change = look_at(place, index) || may_change;
    if (may_change) heap.may_change.store(true);
    heap.done.store(wanted);
    heap.looking.unlock();
  }
}

void want_look(const DriverCall& call, std::size_t index) {
  heaps[index].wanted.fetch_add(1);
  if (call.may_ask_driver())
    look(index);
  else
    do_any_wait.store(true);
}

void note_change(const DriverCall& call, std::size_t index) {
  heaps[index].may_change.store(true);
  want_look(call, index);
}

void look_after_wait(const DriverCall& call, std::size_t index) {
  if (heaps[index].may_change.exchange(false)) want_look(call, index);
}

}  // namespace

std::uint32_t heap_of_pool(const DriverCall& call, Object pool) {
  const std::size_t place = pools.find(pool);
  return place == pools.none ? device_heap(call) : heap_at(heap_index_at(place));
}

RefusedRequest of_pool(Size bytes, Object pool) {
  const std::size_t place = pools.find(pool);
  return {bytes, place == pools.none ? RefusedRequest::of_the_thread : heap_at(heap_index_at(place))};
}

void note_pool(const DriverCall& call, Object pool, Device device) {
  add_pool(call.api(), pool, index_of_device(device));
}

void note_pool(const DriverCall& call, Object pool, int type, Location location) {
  add_pool(call.api(), pool, type == managed_allocation ? managed_place : index_of_location(location));
}

void note_current_pool(Object pool) {
  if (const std::size_t place = pools.find(pool); place != pools.none) begin_to_ask(place);
}

static void retire(std::size_t place) {
  figures[place].is_retired.store(true);
  SpinLock& looking = heaps[heap_index_at(place)].looking;
  looking.lock();  // The queries of a look take microseconds.
  looking.unlock();
}

void retire_pool(Object pool) {
  if (const std::size_t place = pools.find(pool); place != pools.none && figures[place].is_asked.load()) retire(place);
}

// Calls `act` for each pool of the call's API on the thread's device.
template <class Act>
static void for_each_pool(const DriverCall& call, Act act) {
  const std::size_t index = index_of_device(call.device());
  for (std::size_t place = 0; place < pools_max; ++place)
    if (pools.objects[place].load() != nullptr && heap_index_at(place) == index && api_at(place) == call.api())
      act(place);
}

void retire_pools(const DriverCall& call) {
  for_each_pool(call, retire);
}

void forget_pools(const DriverCall& call) {
  for_each_pool(call, [&call](std::size_t place) { forget_pool(call, pools.objects[place].load()); });
  heaps[index_of_device(call.device())].knows_current.store(false);
}

void forget_pool(const DriverCall& call, Object pool) {
  const std::size_t place = pools.find(pool);
  if (place == pools.none) return;
  pools.forget(pool);
  figures[place].knows_threshold.store(false);
  if (figures[place].is_asked.load()) want_look(call, heap_index_at(place));
}

static void report_change_of(const DriverCall& call, Object pool, bool may_be_of_threshold) {
  const std::size_t place = pools.find(pool);
  if (place == pools.none) return;
  if (may_be_of_threshold) figures[place].knows_threshold.store(false);
  begin_to_ask(place);
  note_change(call, heap_index_at(place));
}

void report_pool(const DriverCall& call, Object pool) {
  report_change_of(call, pool, true);
}

// The pool of a freed block is not known without another query: it is one of the stream's device, unless the program
// frees the block of one device in the order of another one's stream.
static void report_pools(const DriverCall& call, std::size_t index) {
  heaps[index].api.store(call.api(), std::memory_order_relaxed);
  heaps[index].wants_current.store(true, std::memory_order_relaxed);
  note_change(call, index);
}

void report_pool_block(const DriverCall& call, Object pool, Address at, Size bytes, Object stream) {
  if (pools.find(pool) == pools.none) note_pool(call, pool, call.device());  // It was made before an attach.
  if (report_stream_block(heap_of_pool(call, pool), call, at, bytes, stream)) report_change_of(call, pool, false);
}

void report_current_pool_block(const DriverCall& call, Address at, Size bytes, Object stream) {
  const std::size_t index = index_of_stream(call, stream);
  if (report_stream_block(heap_at(index), call, at, bytes, stream)) report_pools(call, index);
}

void report_free_in_stream(const DriverCall& call, Address at, Object stream) {
  report_free(call, at);
  if (at != 0) report_pools(call, index_of_stream(call, stream));
}

void report_pools_after_wait(const DriverCall& call, Object stream) {
  if (places_end.load(std::memory_order_relaxed) != 0) look_after_wait(call, index_of_stream(call, stream));
}

void report_pools_after_wait(const DriverCall& call) {
  if (places_end.load(std::memory_order_relaxed) != 0) look_after_wait(call, index_of_device(call.device()));
}

void report_waiting_pools(const DriverCall& call) {
  if (!do_any_wait.load(std::memory_order_relaxed) || !do_any_wait.exchange(false) || !call.may_ask_driver()) return;
  for (std::size_t index = 0; index < heap_places; ++index) look(index);
}

void forget_pool_figures() {
  for (Figures& of_pool : figures) {
    of_pool.knows_threshold.store(false);
    for (const Figure which : {reserved, used, threshold}) of_pool.reported[which] = of_pool.names[which] = 0;
  }
  for (PoolsOfHeap& heap : heaps) heap.looking.unlock();
}

}  // namespace hbmscope::inject::driver
