#include "collector/inject/pjrt_plugins.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "collector/inject/loaded_objects.h"
#include "collector/inject/patch.h"
#include "collector/inject/pjrt_buffers.h"
#include "collector/inject/rings.h"

namespace hbmscope::inject {
namespace pjrt {
namespace {

// What is patched: of a plugin whose allocator is seen the first four, otherwise all.
constexpr Place patched[] = {
    buffer_from_host, execute,        loaded_executable_destroy, to_host_buffer,      buffer_destroy, buffer_delete,
    copy_to_device,   copy_to_memory, retrieve_buffer,           create_uninitialized};
constexpr std::size_t patched_count = std::size(patched), patched_with_pool = 4;

bool has(const Api& api, Place place) {
  const auto end = static_cast<std::size_t>(reinterpret_cast<const char*>(&api.functions[place + 1]) -
                                            reinterpret_cast<const char*>(&api));
  return api.struct_bytes >= end && api.functions[place] != nullptr;
}

void store(Api* api, Place place, Function function) {
  store_word(reinterpret_cast<std::uintptr_t*>(&api->functions[place]), reinterpret_cast<std::uintptr_t>(function));
}

}  // namespace

bool Plugin::succeeds(Place place, void* arguments) const {
  if (originals_[place] == nullptr) return false;
  Error* error = call(place, arguments);
  if (error == nullptr) return true;
  Command<Error> destroyed{{sizeof(destroyed)}, error};
  call(error_destroy, &destroyed);
  return false;
}

void Plugin::take(Api* api, bool has_pool, const Function* stand_ins) {
  for (unsigned i = 0; i < places_needed; ++i) {
    const auto place = static_cast<Place>(i);
    if (!has(*api, place)) continue;
    const Function* end = stand_ins + patched_count;
    if (std::find(stand_ins, end, api->functions[place]) == end) originals_[place] = api->functions[place];
  }
  has_pool_.store(has_pool, std::memory_order_relaxed);
  api_.store(api, std::memory_order_release);
  for (std::size_t i = 0; i < (has_pool ? patched_with_pool : patched_count); ++i)
    if (originals_[patched[i]] != nullptr) store(api, patched[i], stand_ins[i]);
}

void Plugin::leave(const Function* stand_ins) {
  Api* api = api_.load(std::memory_order_relaxed);
  if (api == nullptr || !is_loaded(api)) return;
  for (std::size_t i = 0; i < patched_count; ++i)
    if (has(*api, patched[i]) && api->functions[patched[i]] == stand_ins[i])
      store(api, patched[i], originals_[patched[i]]);
}

namespace {

constexpr unsigned plugins_max = 4;
Plugin plugins[plugins_max];
SpinLock taking;

// A stand-in gets nothing but the arguments, so each plugin has its own ones.
template <unsigned number, Place place>
Error* call_of(void* arguments) {
  return call_instead(plugins[number], place, arguments);
}
using StandIns = std::array<Function, patched_count>;
template <unsigned number, std::size_t... i>
constexpr StandIns stand_ins_of(std::index_sequence<i...>) {
  return {call_of<number, patched[i]>...};
}
template <unsigned... numbers>
constexpr std::array<StandIns, plugins_max> all_stand_ins(std::integer_sequence<unsigned, numbers...>) {
  return {stand_ins_of<numbers>(std::make_index_sequence<patched_count>())...};
}
constexpr auto stand_ins = all_stand_ins(std::make_integer_sequence<unsigned, plugins_max>());

}  // namespace
}  // namespace pjrt

using namespace pjrt;

void take_pjrt_of(const void* address_in_library, bool has_pool) {
  void* get = find_function_in_object_of(address_in_library, "GetPjrtApi");
  if (get == nullptr) return;
  Api* api = reinterpret_cast<Api* (*)()>(get)();
  constexpr int newest_major = 0;
  if (api == nullptr || api->major != newest_major || !has(*api, last_place_needed)) return;
  taking.lock();
  for (unsigned i = 0; i < plugins_max; ++i)
    if (plugins[i].is(api) || plugins[i].is(nullptr)) {
      plugins[i].take(api, has_pool, stand_ins[i].data());
      break;
    }
  taking.unlock();
}

void leave_pjrt() {
  taking.lock();
  for (unsigned i = 0; i < plugins_max; ++i) plugins[i].leave(stand_ins[i].data());
  taking.unlock();
}

void forget_pjrt_locks() {
  taking.unlock();
}

}  // namespace hbmscope::inject
