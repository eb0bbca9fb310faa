#include "collector/inject/pjrt_plugins.h"

#include <cstdint>
#include <utility>

#include "collector/inject/loaded_objects.h"
#include "collector/inject/patch.h"
#include "collector/inject/pjrt_buffers.h"
#include "collector/inject/rings.h"

namespace hbmscope::inject {
namespace pjrt {

bool Plugin::succeeds(Place place, void* arguments) const {
  if (originals_[place] == nullptr) return false;
  Error* error = call(place, arguments);
  if (error == nullptr) return true;
  ErrorArguments destroyed{{sizeof(ErrorArguments)}, error};
  call(error_destroy, &destroyed);
  return false;
}

namespace {

constexpr unsigned plugins_max = 4;
Plugin plugins[plugins_max];

// A stand-in gets nothing but the arguments, so each plugin has its own ones.
template <unsigned number, Place place>
Error* call_of(void* arguments) {
  return call_instead(plugins[number], place, arguments);
}

constexpr Place with_pool[] = {buffer_from_host, execute, loaded_executable_destroy};
constexpr Place without_pool[] = {buffer_from_host, execute,         loaded_executable_destroy,
                                  buffer_destroy,   buffer_delete,   copy_to_device,
                                  copy_to_memory,   retrieve_buffer, create_uninitialized};
constexpr std::size_t stand_in_count = std::size(without_pool);

template <unsigned number, std::size_t... places>
constexpr void fill(Function* row, std::index_sequence<places...>) {
  ((row[places] = call_of<number, without_pool[places]>), ...);
}
struct StandIns {
  Function rows[plugins_max][stand_in_count] = {};
};
template <unsigned... numbers>
constexpr StandIns make_stand_ins(std::integer_sequence<unsigned, numbers...>) {
  StandIns made;
  (fill<numbers>(made.rows[numbers], std::make_index_sequence<stand_in_count>()), ...);
  return made;
}
constexpr StandIns stand_ins = make_stand_ins(std::make_integer_sequence<unsigned, plugins_max>());

std::uintptr_t* slot_of(Api* api, Place place) {
  return reinterpret_cast<std::uintptr_t*>(&api->functions[place]);
}

bool has(const Api& api, Place place) {
  const auto end = static_cast<std::size_t>(reinterpret_cast<const char*>(&api.functions[place + 1]) -
                                            reinterpret_cast<const char*>(&api));
  return api.struct_bytes >= end && api.functions[place] != nullptr;
}

}  // namespace

class Plugins {
 public:
  void take(Api* api, bool has_pool) {
    constexpr int newest_major = 0;
    if (api == nullptr || api->major != newest_major || !has(*api, last_place_needed)) return;
    const unsigned number = find(api);
    if (number == plugins_max) return;
    Plugin& plugin = plugins[number];
    for (unsigned place = 0; place < places_needed; ++place)
      if (has(*api, static_cast<Place>(place)) && !is_ours(number, api->functions[place]))
        plugin.originals_[place] = api->functions[place];
    plugin.has_pool_.store(has_pool, std::memory_order_relaxed);
    plugin.api_.store(api, std::memory_order_release);
    for (std::size_t i = 0; i < stand_in_count; ++i)
      if (is_patched(has_pool, without_pool[i]) && plugin.originals_[without_pool[i]] != nullptr)
        store_word(slot_of(api, without_pool[i]), reinterpret_cast<std::uintptr_t>(stand_ins.rows[number][i]));
  }

  void leave() {
    for (unsigned number = 0; number < plugins_max; ++number) {
      Plugin& plugin = plugins[number];
      Api* api = plugin.api_.load(std::memory_order_relaxed);
      if (api == nullptr || !is_loaded(api)) continue;
      for (std::size_t i = 0; i < stand_in_count; ++i)
        if (has(*api, without_pool[i]) && api->functions[without_pool[i]] == stand_ins.rows[number][i])
          store_word(slot_of(api, without_pool[i]),
                     reinterpret_cast<std::uintptr_t>(plugin.originals_[without_pool[i]]));
    }
  }

 private:
  // Its place, or the next free one.
  static unsigned find(const Api* api) {
    unsigned number = 0;
    for (; number < plugins_max; ++number) {
      const Api* is = plugins[number].api_.load(std::memory_order_relaxed);
      if (is == api || is == nullptr) break;
    }
    return number;
  }
  static bool is_ours(unsigned number, Function function) {
    for (Function ours : stand_ins.rows[number])
      if (function == ours) return true;
    return false;
  }
  static bool is_patched(bool has_pool, Place place) {
    if (!has_pool) return true;
    for (const Place each : with_pool)
      if (each == place) return true;
    return false;
  }
};

namespace {
Plugins all;
SpinLock taking;
}  // namespace

}  // namespace pjrt

void take_pjrt_of(const void* address_in_library, bool has_pool) {
  void* get = find_function_in_object_of(address_in_library, "GetPjrtApi");
  if (get == nullptr) return;
  pjrt::Api* api = reinterpret_cast<pjrt::Api* (*)()>(get)();
  pjrt::taking.lock();
  pjrt::all.take(api, has_pool);
  pjrt::taking.unlock();
}

void leave_pjrt() {
  pjrt::taking.lock();
  pjrt::all.leave();
  pjrt::taking.unlock();
}

void forget_pjrt_locks() {
  pjrt::taking.unlock();
}

}  // namespace hbmscope::inject
