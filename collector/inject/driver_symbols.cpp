#include "collector/inject/driver_symbols.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "collector/inject/loaded_objects.h"

#define EXPORTED __attribute__((visibility("default")))

namespace hbmscope::inject {
using namespace driver;
#define ALLOCATES(name, since, parameters, ...) extern "C" EXPORTED Result name parameters;
#define FREES(name, since, parameters, ...) extern "C" EXPORTED Result name parameters;
#define REFUSES(name, since, parameters, ...) extern "C" EXPORTED Result name parameters;
#define RESOLVES(name, since, parameters, ...) extern "C" EXPORTED Result name parameters;
#include "collector/inject/all_entries.inc"

namespace {

struct EntryPoint {
  const char* name;
  int since;
  void* ours;
};
#define ALLOCATES(name, since, ...) {#name, since, reinterpret_cast<void*>(&name)},
#define FREES(name, since, ...) {#name, since, reinterpret_cast<void*>(&name)},
#define REFUSES(name, since, ...) {#name, since, reinterpret_cast<void*>(&name)},
#define RESOLVES(name, since, ...) {#name, since, reinterpret_cast<void*>(&name)},
const EntryPoint entry_points[] = {
#include "collector/inject/all_entries.inc"
};

constexpr std::size_t helper_count = static_cast<std::size_t>(Helper::count);
struct HelperNames {
  Helper which;
  const char* names[api_count];  // In the order of Api, null where it has none.
};
constexpr HelperNames helper_names[] = {
    {Helper::device, {"cuCtxGetDevice", "hipGetDevice"}},
    {Helper::context, {"cuCtxGetCurrent", nullptr}},
    {Helper::graph_memory, {"cuDeviceGetGraphMemAttribute", "hipDeviceGetGraphMemAttribute"}},
    {Helper::is_capturing, {"cuStreamIsCapturing", "hipStreamIsCapturing"}},
    {Helper::pool_figure, {"cuMemPoolGetAttribute", "hipMemPoolGetAttribute"}},
    {Helper::pool_of_device, {"cuDeviceGetMemPool", "hipDeviceGetMemPool"}},
    {Helper::free_memory, {"cuMemGetInfo_v2", "hipMemGetInfo"}},
    {Helper::range_of_address, {"cuMemGetAddressRange_v2", "hipMemGetAddressRange"}},
    {Helper::device_count, {"cuDeviceGetCount", nullptr}},
    {Helper::uuid, {nullptr, "hipDeviceGetUuid"}},
    {Helper::runtime_version, {nullptr, "hipRuntimeGetVersion"}},
    {Helper::last_error, {nullptr, "hipPeekAtLastError"}},
    {Helper::forget_last_error, {nullptr, "hipGetLastError"}},
};
const char* name_of(Helper which, Api api) {
  for (const HelperNames& helper : helper_names)
    if (helper.which == which) return helper.names[static_cast<std::size_t>(api)];
  return nullptr;
}

struct Driver {
  std::atomic<const void*> address;          // Any address in the driver that was found last.
  std::atomic<void*> helpers[helper_count];  // Null: not looked up since a target was set.
};
Driver drivers[api_count];
Driver& driver_of(Api api) {
  return drivers[static_cast<std::size_t>(api)];
}

std::size_t find_entry(const char* name) {  // entry_count: there is none.
  std::size_t entry = 0;
  while (entry < entry_count && std::strcmp(entry_points[entry].name, name) != 0) ++entry;
  return entry;
}

std::size_t find_ours(const void* function) {  // entry_count: it is not ours.
  std::size_t entry = 0;
  while (entry < entry_count && entry_points[entry].ours != function) ++entry;
  return entry;
}

void forget_helpers(Driver& driver) {
  for (std::atomic<void*>& helper : driver.helpers) helper.store(nullptr, std::memory_order_release);
}

// The function that our entry point calls first, or null if none is known.
void* known_target(Entry entry) {
  const TargetsOfEntry& known = targets[static_cast<std::size_t>(entry)];
  return known.functions[known.order.load(std::memory_order_acquire) & ((1U << place_bits) - 1)].load(
      std::memory_order_acquire);
}

// Returns our function, which calls `found` from now on; for other names `found` itself.
void* stand_in(std::size_t entry, void* found, const void* caller, bool is_inside_call) {
  if (entry == entry_count) return found;
  const auto which = static_cast<Entry>(entry);
  if (is_inside_call)
    add_target(which, found, Position::last);
  else if (!add_behind_own(which, found, caller))
    add_target(which, found, Position::first);
  note_driver(api_of(which), found);
  return entry_points[entry].ours;
}

// A library in front of the driver returns its own function, but the loader has given it ours for that name.
void add_own_of(std::size_t entry, const void* finder) {
  const auto which = static_cast<Entry>(entry);
  void* own = find_function_in_object_of(finder, entry_points[entry].name);
  if (own != nullptr && !is_target(which, own)) add_target(which, own, Position::first);
}

// The result of the driver's own cuGetProcAddress.
void* ask_for_function(const char* name, int version, Flags flags) {
  void* found = nullptr;
  if (void* ask = known_target(Entry::cuGetProcAddress_v2))
    reinterpret_cast<decltype(&cuGetProcAddress_v2)>(ask)(name, &found, version, flags, nullptr);
  else if (void* ask_v1 = known_target(Entry::cuGetProcAddress))
    reinterpret_cast<decltype(&cuGetProcAddress)>(ask_v1)(name, &found, version, flags);
  return found;
}

// The newest version of CUDA whose variants are in driver_entries.inc.
constexpr int newest_version = 13050;

bool ends_a_thread_variant(const char* ending) {
  return std::strcmp(ending, "_ptsz") == 0 || std::strcmp(ending, "_ptds") == 0 || std::strcmp(ending, "_spt") == 0;
}

// A variant's name is `symbol` plus an ending such as "", "_v2", "_ptsz" or "_v2_ptds". Nothing else counts, such as
// the "Async" of another function.
struct Variant {
  bool is_one = false, is_per_thread = false;
};
Variant variant_of(const char* name, const char* symbol) {
  const std::size_t length = std::strlen(symbol);
  if (std::strncmp(name, symbol, length) != 0) return {};
  const char* ending = name + length;
  if (ending[0] == '_' && ending[1] == 'v' && ending[2] >= '0' && ending[2] <= '9') ending += 3;
  const bool is_per_thread = ends_a_thread_variant(ending);
  return {*ending == 0 || is_per_thread, is_per_thread};
}

}  // namespace

void forget_unloaded_driver() {
  static std::atomic<std::uint64_t> unloads_seen{0};
  if (!is_driver_known(Api::cuda) && !is_driver_known(Api::hip)) return;
  const std::uint64_t unloads = count_unloads();
  if (unloads_seen.exchange(unloads, std::memory_order_relaxed) == unloads) return;
  for (const Api api : {Api::cuda, Api::hip}) {
    Driver& driver = driver_of(api);
    const void* remaining = forget_targets(api, [](const void* function) { return !is_loaded(function); });
    if (!is_loaded(driver.address.load(std::memory_order_acquire)))
      driver.address.store(remaining, std::memory_order_release);
    forget_helpers(driver);
  }
}

void note_driver(Api api, const void* address) {
  driver_of(api).address.store(address, std::memory_order_release);
  forget_helpers(driver_of(api));
}

bool is_driver_known(Api api) {
  return driver_of(api).address.load(std::memory_order_acquire) != nullptr;
}

const char* name_of(Entry entry) {
  return entry_points[static_cast<std::size_t>(entry)].name;
}

bool is_entry_point(const char* name) {
  return find_entry(name) != entry_count;
}

void* replace_found(const FoundFunction& call) {
  const auto& [api, symbol, found, version, flags, finder, caller, is_inside_call] = call;
  // A driver that used dlsym itself has our function; so does one in a program that is not position-independent and
  // contains a jump to ours, which is then the function's address for everybody.
  if (const std::size_t ours = find_ours(found); ours != entry_count) {
    add_own_of(ours, finder);
    return found;
  }
  if (is_in_program(found)) return found;
  constexpr Flags per_thread_stream = 2;
  const bool is_per_thread = (flags & per_thread_stream) != 0;
  std::size_t best = entry_count;
  int best_rank = 0;
  for (std::size_t i = 0; i < entry_count; ++i) {
    const Variant variant = variant_of(entry_points[i].name, symbol);
    if (!variant.is_one || api_of(static_cast<Entry>(i)) != api) continue;
    // What a name means depends on version and flags; the address says which function it is.
    if (find_function_in_object_of(found, entry_points[i].name) == found)
      return stand_in(i, found, caller, is_inside_call);
    if (entry_points[i].since > version || (variant.is_per_thread && !is_per_thread)) continue;
    const int rank = 2 * entry_points[i].since + (variant.is_per_thread ? 1 : 0);
    if (best == entry_count || rank >= best_rank) {
      best = i;
      best_rank = rank;
    }
  }
  if (best == entry_count) return found;
  // The driver exports it under none of these names, so it is a separate function, or a variant that we don't know,
  // whose arguments may differ. It is such a variant if its name begins like the symbol, or if the driver's answer for
  // the newest version that we know is another function.
  const char* name = find_name_of(found);
  // It may be in the table by another name: cuGraphInstantiate is cuGraphInstantiateWithFlags from 12.0 on.
  if (name != nullptr && std::strncmp(name, symbol, std::strlen(symbol)) == 0)
    return stand_in(find_entry(name), found, caller, is_inside_call);
  if (api == Api::cuda && version > newest_version && ask_for_function(symbol, newest_version, flags) != found)
    return found;
  return stand_in(best, found, caller, is_inside_call);
}

void* replace_looked_up(const char* name, void* found, void* (*look_up_next)(void*, const char*), const void* caller) {
  if (found == nullptr) return nullptr;
  const std::size_t entry = find_entry(name);
  if (entry == entry_count || found != entry_points[entry].ours)
    return stand_in(entry, found, caller, calls_in_progress != 0);
  // Ours was found before the driver's, or there is no driver at all, which is what the caller wants to find out.
  return find_target(static_cast<Entry>(entry)).function != nullptr ? found : look_up_next(RTLD_NEXT, name);
}

void* find_helper(Api api, const char* name) {
  const void* driver = driver_of(api).address.load(std::memory_order_acquire);
  if (driver == nullptr) return nullptr;
  if (void* found = find_function_in_object_of(driver, name)) return found;
  if (void* found = find_next_function(name)) return found;
  constexpr int oldest_version = 2000;  // For a driver that exports only cuGetProcAddress.
  return api == Api::cuda ? ask_for_function(name, oldest_version, 0) : nullptr;
}

void* find_helper(Api api, Helper which) {
  static char is_absent;
  std::atomic<void*>& kept = driver_of(api).helpers[static_cast<std::size_t>(which)];
  void* helper = kept.load(std::memory_order_acquire);
  if (__builtin_expect(helper == nullptr, 0)) {
    const char* name = name_of(which, api);
    helper = name == nullptr ? nullptr : find_helper(api, name);
    if (helper == nullptr) helper = &is_absent;
    kept.store(helper, std::memory_order_release);
  }
  return helper != &is_absent ? helper : nullptr;
}

}  // namespace hbmscope::inject
