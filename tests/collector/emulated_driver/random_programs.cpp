// Random programs, one after another: each is a sequence of driver calls that depends on its seed alone, in up to four
// threads on two devices, with contexts, streams and pools of its own, and with calls that fail. At the end of each
// program nothing is left. After each step, while all threads rest, the driver is asked for its own account, which is
// written to TRUTH; a refused request for step_mark bytes more than the step's number shows the recording where that
// was.
//
//   random_programs TRUTH FIRST_SEED PROGRAMS [PAUSE_US]      prints the number of calls
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "tests/collector/emulated_driver/random_programs.h"

namespace random_programs = hbmscope::random_programs;
using namespace hbmscope::cuda;

#define DRIVER(name, parameters) extern "C" Result name parameters;
DRIVER(cuMemAlloc_v2, (Address*, Size))
DRIVER(cuMemAllocPitch_v2, (Address*, Size*, Size, Size, unsigned))
DRIVER(cuMemAllocManaged, (Address*, Size, unsigned))
DRIVER(cuMemFree_v2, (Address))
DRIVER(cuMemAllocAsync, (Address*, Size, Object))
DRIVER(cuMemAllocFromPoolAsync, (Address*, Size, Object, Object))
DRIVER(cuMemFreeAsync, (Address, Object))
DRIVER(cuMemPoolCreate, (Object*, const PoolProperties*))
DRIVER(cuMemPoolDestroy, (Object))
DRIVER(cuMemPoolGetAttribute, (Object, int, void*))
DRIVER(cuDeviceGetDefaultMemPool, (Object*, Device))
DRIVER(cuStreamCreate, (Object*, unsigned))
DRIVER(cuStreamDestroy_v2, (Object))
DRIVER(cuStreamSynchronize, (Object))
DRIVER(cuMemCreate, (MemHandle*, Size, const AllocationProperties*, Flags))
DRIVER(cuMemRelease, (MemHandle))
DRIVER(cuMemAddressReserve, (Address*, Size, Size, Address, Flags))
DRIVER(cuMemAddressFree, (Address, Size))
DRIVER(cuMemMap, (Address, Size, Size, MemHandle, Flags))
DRIVER(cuMemUnmap, (Address, Size))
DRIVER(cuArrayCreate_v2, (Object*, const ArrayDescriptor<Size>*))
DRIVER(cuArray3DCreate_v2, (Object*, const Array3dDescriptor<Size>*))
DRIVER(cuArrayDestroy, (Object))
DRIVER(cuMipmappedArrayCreate, (Object*, const Array3dDescriptor<Size>*, unsigned))
DRIVER(cuMipmappedArrayDestroy, (Object))
DRIVER(cuMemHostAlloc, (void**, Size, unsigned))
DRIVER(cuMemAllocHost_v2, (void**, Size))
DRIVER(cuMemFreeHost, (void*))
DRIVER(cuMemHostRegister_v2, (void*, Size, unsigned))
DRIVER(cuMemHostUnregister, (void*))
DRIVER(cuDevicePrimaryCtxRetain, (Object*, Device))
DRIVER(cuDevicePrimaryCtxReset_v2, (Device))
DRIVER(cuCtxCreate_v2, (Object*, unsigned, Device))
DRIVER(cuCtxDestroy_v2, (Object))
DRIVER(cuCtxSetCurrent, (Object))
extern "C" long long hbmscope_device_used_bytes(int device);
extern "C" void fake_fail(const char* name, Result result, int times);

namespace {

struct Thing {
  enum class Kind { memory, async, pooled, managed, array, mipmapped, host, registered, handle, range, mapped };
  Kind kind = Kind::memory;
  Size bytes = 0;
  Address at = 0;
  Object object = nullptr;   // The array, the host memory, or for what is pooled the stream.
  Object context = nullptr;  // With which it ends; null: it ends when it is freed.
};
using Kind = Thing::Kind;

std::uint64_t calls = 0;
std::int64_t managed_bytes = 0, host_bytes = 0;  // The driver has no account of these.

struct Place {  // What a thread works with.
  Device device = 0;
  Object context = nullptr, stream = nullptr, pool = nullptr;
};

class Thread {
 public:
  Thread(std::uint64_t seed, const Place& place) : random_(seed), place_(place) {}
  std::vector<Thing> things;
  std::uint64_t calls = 0;
  std::int64_t managed_bytes = 0, host_bytes = 0;

  void move_to(const Place& place) { place_ = place; }
  void run(unsigned operations) {
    cuCtxSetCurrent(place_.context);
    for (unsigned i = 0; i < operations; ++i) {
      const unsigned choice = below(16);
      if (choice < 9)
        take();
      else if (choice < 14)
        give_any();
      else
        make_a_mistake();
    }
  }
  void forget_all_of(Object context) {
    std::erase_if(things, [this, context](const Thing& thing) {
      if (thing.context != context) return false;
      forget(thing);
      return true;
    });
  }
  void give_all() {
    cuCtxSetCurrent(place_.context);
    // A range is free only when nothing is mapped there.
    for (const bool is_for_ranges : {false, true})
      for (std::size_t i = things.size(); i-- > 0;)
        if (is_for_ranges || things[i].kind != Kind::range) give(i);
  }

 private:
  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
  Size some_bytes() {
    constexpr unsigned rare = 12;
    return below(rare) == 0 ? Size{1} << 40 : 1 + below(8000);  // More than there is.
  }

  void take() {
    Thing thing;
    thing.kind = static_cast<Kind>(below(11));
    thing.bytes = some_bytes();
    thing.context = place_.context;
    ++calls;
    if (begin(thing) != success) return;
    if (thing.kind == Kind::managed) managed_bytes += static_cast<std::int64_t>(thing.bytes);
    if (is_host(thing)) host_bytes += static_cast<std::int64_t>(thing.bytes);
    if (!is_of_context(thing.kind)) thing.context = nullptr;
    things.push_back(thing);
  }
  static bool is_of_context(Kind kind) {
    return kind != Kind::async && kind != Kind::pooled && kind != Kind::handle && kind != Kind::range &&
           kind != Kind::mapped;
  }
  static bool is_host(const Thing& thing) { return thing.kind == Kind::host || thing.kind == Kind::registered; }

  Result begin(Thing& thing) {
    const Size bytes = thing.bytes;
    switch (thing.kind) {
      case Kind::memory: {
        Size pitch = 0;
        if (below(4) != 0 || bytes > 10'000) return cuMemAlloc_v2(&thing.at, bytes);
        return cuMemAllocPitch_v2(&thing.at, &pitch, bytes / 8 + 1, 1 + below(8), 4);
      }
      case Kind::async:
        thing.object = below(2) == 0 ? place_.stream : nullptr;
        return cuMemAllocAsync(&thing.at, bytes, thing.object);
      case Kind::pooled:
        thing.object = place_.stream;
        return cuMemAllocFromPoolAsync(&thing.at, bytes, place_.pool, place_.stream);
      case Kind::managed: thing.bytes %= 10'000; return cuMemAllocManaged(&thing.at, ++thing.bytes, 1);
      case Kind::array: {
        const ArrayDescriptor<Size> flat{bytes, below(4), 0x20, 1u << below(3)};
        const Array3dDescriptor<Size> solid{bytes, 1 + below(4), 1 + below(4), 0x08, 1u << below(3), 0};
        return below(2) == 0 ? cuArrayCreate_v2(&thing.object, &flat) : cuArray3DCreate_v2(&thing.object, &solid);
      }
      case Kind::mipmapped: {
        const Array3dDescriptor<Size> solid{bytes, 1 + below(64), 0, 0x20, 1, 0};
        return cuMipmappedArrayCreate(&thing.object, &solid, 1 + below(4));
      }
      case Kind::host: thing.bytes %= 10'000; return cuMemHostAlloc(&thing.object, ++thing.bytes, 0);
      case Kind::registered:
        thing.bytes %= 10'000;
        thing.object = std::malloc(++thing.bytes);
        if (const Result result = cuMemHostRegister_v2(thing.object, thing.bytes, 0); result != success) {
          std::free(thing.object);
          return result;
        }
        return success;
      case Kind::handle: {
        AllocationProperties properties{};
        properties.type = 1;
        properties.location = {LocationType::device, place_.device};
        return cuMemCreate(&thing.at, bytes, &properties, 0);
      }
      case Kind::range: thing.bytes %= 10'000; return cuMemAddressReserve(&thing.at, ++thing.bytes, 0, 0, 0);
      case Kind::mapped: return map(thing);
    }
    return error_no_device;
  }
  // Any handle into a range that is made for it; the handle may be mapped many times, and be released before.
  Result map(Thing& thing) {
    for (std::size_t tries = 0; tries < things.size(); ++tries) {
      const Thing& handle = things[below(static_cast<unsigned>(things.size()))];
      if (handle.kind != Kind::handle) continue;
      thing.bytes = handle.bytes;
      if (const Result result = cuMemAddressReserve(&thing.at, thing.bytes, 0, 0, 0); result != success) return result;
      const Result result = cuMemMap(thing.at, thing.bytes, 0, handle.at, 0);
      if (result != success) cuMemAddressFree(thing.at, thing.bytes);
      return result;
    }
    return error_no_device;
  }

  void give_any() {
    if (!things.empty()) give(below(static_cast<unsigned>(things.size())));
  }
  // A call that fails leaves the thing where it is.
  void give(std::size_t index) {
    const Thing thing = things[index];
    ++calls;
    if (end(thing) != success) return;
    forget(thing);
    things[index] = things.back();
    things.pop_back();
  }
  void forget(const Thing& thing) {
    if (thing.kind == Kind::managed) managed_bytes -= static_cast<std::int64_t>(thing.bytes);
    if (is_host(thing)) host_bytes -= static_cast<std::int64_t>(thing.bytes);
    if (thing.kind == Kind::registered) std::free(thing.object);
  }
  Result end(const Thing& thing) {
    switch (thing.kind) {
      case Kind::memory: return below(3) == 0 ? cuMemFreeAsync(thing.at, place_.stream) : cuMemFree_v2(thing.at);
      case Kind::managed: return cuMemFree_v2(thing.at);
      case Kind::async:
      case Kind::pooled: return below(4) == 0 ? cuMemFree_v2(thing.at) : cuMemFreeAsync(thing.at, place_.stream);
      case Kind::array: return cuArrayDestroy(thing.object);
      case Kind::mipmapped: return cuMipmappedArrayDestroy(thing.object);
      case Kind::host: return cuMemFreeHost(thing.object);
      case Kind::registered: return cuMemHostUnregister(thing.object);
      case Kind::handle: return cuMemRelease(thing.at);
      case Kind::range: return cuMemAddressFree(thing.at, thing.bytes);
      case Kind::mapped: {
        const Result result = cuMemUnmap(thing.at, thing.bytes);
        return result == success ? cuMemAddressFree(thing.at, thing.bytes) : result;
      }
    }
    return error_no_device;
  }

  void make_a_mistake() {
    ++calls;
    Address at = 0;
    switch (below(6)) {
      case 0: cuMemFree_v2(0x12345); break;
      case 1: cuMemFree_v2(0); break;
      case 2: cuMemRelease(~MemHandle{0}); break;
      case 3: cuMemAlloc_v2(&at, 0); break;
      case 4:
        fake_fail("cuMemAlloc_v2", below(2) == 0 ? error_out_of_memory : 999, 1);
        if (cuMemAlloc_v2(&at, 1000) == success) cuMemFree_v2(at);
        break;
      default:
        fake_fail("cuMemFree_v2", 700, 1);
        cuMemFree_v2(0x12345);
        break;
    }
  }

  std::mt19937_64 random_;
  Place place_;
};

class Program {
 public:
  Program(std::FILE* truth, std::uint64_t seed) : truth_(truth), seed_(seed), random_(seed) {}

  void run() {
    const unsigned threads = below(3) == 0 ? 2 + below(3) : 1;
    for (unsigned i = 0; i < threads; ++i) {
      places_.push_back(make_place());
      threads_.emplace_back(random_(), places_.back());
    }
    mark();
    const unsigned steps = 2 + below(10);
    for (unsigned step = 0; step < steps; ++step) {
      run_step(1 + below(12));
      pass_things_on();
      if (below(6) == 0) end_a_context();
      mark();
    }
    for (Thread& thread : threads_) thread.give_all();
    end_places();
    mark();
    for (const Thread& thread : threads_) {
      calls += thread.calls;
      managed_bytes += thread.managed_bytes;
      host_bytes += thread.host_bytes;
    }
  }

 private:
  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }

  Place make_place() {
    Place place;
    place.device = static_cast<Device>(below(2));
    if (below(2) == 0)
      cuDevicePrimaryCtxRetain(&place.context, place.device);
    else
      cuCtxCreate_v2(&place.context, 0, place.device);
    cuCtxSetCurrent(place.context);
    cuStreamCreate(&place.stream, 1);
    PoolProperties properties{};
    properties.type = 1;
    properties.location = {LocationType::device, place.device};
    cuMemPoolCreate(&place.pool, &properties);
    return place;
  }
  void run_step(unsigned operations) {
    if (threads_.size() == 1) return threads_.front().run(operations);
    std::vector<std::thread> running;
    for (Thread& thread : threads_) running.emplace_back([&thread, operations] { thread.run(operations); });
    for (std::thread& one : running) one.join();
  }
  // Threads free what others have allocated.
  void pass_things_on() {
    for (Thread& from : threads_) {
      if (from.things.empty() || below(2) == 0) continue;
      Thread& to = threads_[below(static_cast<unsigned>(threads_.size()))];
      if (&to == &from) continue;
      to.things.push_back(from.things.back());
      from.things.pop_back();
    }
  }
  // With all that was allocated in it; its threads go on in the primary context.
  void end_a_context() {
    const unsigned index = below(static_cast<unsigned>(places_.size()));
    Place& place = places_[index];
    Object primary = nullptr;
    cuDevicePrimaryCtxRetain(&primary, place.device);
    if (place.context == primary) return;
    cuStreamSynchronize(place.stream);
    const Object ended = place.context;
    const Object stream = place.stream;
    ++calls;
    if (cuCtxDestroy_v2(ended) != success) return;
    cuCtxSetCurrent(primary);
    place.context = primary;
    cuStreamCreate(&place.stream, 1);
    forget_all_of(ended);
    for (Thread& thread : threads_)
      for (Thing& thing : thread.things)
        if ((thing.kind == Kind::async || thing.kind == Kind::pooled) && thing.object == stream) thing.object = nullptr;
    threads_[index].move_to(place);
  }
  void forget_all_of(Object context) {
    for (Thread& thread : threads_) thread.forget_all_of(context);
  }
  void end_places() {
    for (const Place& place : places_) {
      Object primary = nullptr;
      cuDevicePrimaryCtxRetain(&primary, place.device);
      cuCtxSetCurrent(place.context);
      cuStreamSynchronize(place.stream);
      cuStreamDestroy_v2(place.stream);
      cuMemPoolDestroy(place.pool);
      if (place.context != primary) cuCtxDestroy_v2(place.context);
    }
    places_.clear();
    if (below(4) == 0) cuDevicePrimaryCtxReset_v2(static_cast<Device>(below(2)));
  }

  // What a pool holds without using it.
  static std::int64_t kept_bytes(Object pool) {
    constexpr int reserved_now = 5, used_now = 7;  // CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, ..._USED_MEM_CURRENT
    std::uint64_t reserved = 0, used = 0;
    if (cuMemPoolGetAttribute(pool, reserved_now, &reserved) != success) return 0;
    if (cuMemPoolGetAttribute(pool, used_now, &used) != success) return 0;
    return static_cast<std::int64_t>(reserved - used);
  }

  void mark() {
    for (const Place& place : places_) cuStreamSynchronize(place.stream);
    random_programs::Step step{};
    step.mark = random_programs::step_mark + ++marks_;
    step.program = seed_;
    for (Device device = 0; device < 2; ++device) step.used_bytes[device] = hbmscope_device_used_bytes(device);
    for (const Place& place : places_) step.kept_bytes[place.device] += kept_bytes(place.pool);
    for (Device device = 0; device < 2; ++device) {
      Object pool = nullptr;
      if (cuDeviceGetDefaultMemPool(&pool, device) == success) step.kept_bytes[device] += kept_bytes(pool);
    }
    step.managed_bytes = managed_bytes;
    step.host_bytes = host_bytes;
    for (const Thread& thread : threads_) {
      step.managed_bytes += thread.managed_bytes;
      step.host_bytes += thread.host_bytes;
    }
    void* none = nullptr;
    fake_fail("cuMemAllocHost_v2", error_out_of_memory, 1);
    if (cuMemAllocHost_v2(&none, step.mark) == success) std::abort();
    std::fwrite(&step, sizeof(step), 1, truth_);
    std::fflush(truth_);
  }

  static std::uint64_t marks_;
  std::FILE* truth_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
  std::vector<Place> places_;
  std::vector<Thread> threads_;
};
std::uint64_t Program::marks_ = 0;

}  // namespace

int main(int, char** arguments) {
  if (arguments[1] == nullptr || arguments[2] == nullptr || arguments[3] == nullptr) return 2;
  std::FILE* truth = std::fopen(arguments[1], "wb");
  if (truth == nullptr) return 2;
  const std::uint64_t first = std::strtoull(arguments[2], nullptr, 10),
                      programs = std::strtoull(arguments[3], nullptr, 10);
  const auto pause = arguments[4] != nullptr ? static_cast<useconds_t>(std::atoi(arguments[4])) : 0;
  for (std::uint64_t i = 0; i < programs; ++i) {
    Program(truth, first + i).run();
    if (pause != 0) usleep(pause);
  }
  std::fclose(truth);
  std::printf("%llu\n", static_cast<unsigned long long>(calls));
}
