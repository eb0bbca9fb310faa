// A fake libcupti.so: the CUPTI callbacks that the collector uses, made from public facts, on top of the
// emulated driver, whose hook it uses. Built once for each version that differs:
//
//   FAKE_CUPTI_VERSION  28 (CUDA 12.9: one subscriber), 130000 (names the subscriber), 130300 (several subscribers)
//
// Environment variables select a failure:
//
//   FAKE_CUPTI_HOLDER=Somebody     a subscriber was there first
//   FAKE_CUPTI_HOLDER_SHARES=1     and allows others
//   FAKE_CUPTI_ERROR=15            nobody can subscribe
//   FAKE_CUPTI_UNKNOWN_FROM=599    ids from here on are unknown
//   FAKE_CUPTI_ENDS_AFTER=100      it ends itself after that many callbacks
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "tests/collector/emulated_driver/wrapped.h"
#include "tests/collector/fake_cupti/fake_cupti.h"

namespace {

using namespace hbmscope;
using cupti::Result;

constexpr Result invalid_parameter = 1;
constexpr unsigned ids_max = 1024;

long number_from(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atol(text) : otherwise;
}

struct Listener {
  bool is_there = false, is_v2 = false;
  cupti::Callback callback = nullptr;
  void* data = nullptr;
  std::string name;
  std::atomic<bool> enabled[ids_max], nvtx_enabled[ids_max];
  std::atomic<bool> wants_end = false;
};

// They stay for ever: a thread may be on its way to one.
struct Cupti {
  std::mutex mutex;
  Listener listeners[4];
  bool are_others_allowed = false;
  const long ends_after = number_from("FAKE_CUPTI_ENDS_AFTER", -1);
  const long ended_after = number_from("FAKE_CUPTI_ENDED_AFTER", -1);
  const long unknown_from = number_from("FAKE_CUPTI_UNKNOWN_FROM", ids_max);
  std::atomic<long> callbacks{0};  // Whether anybody listens or not.
  std::atomic<long> callbacks_of_listeners{0};
};
Cupti fake;

template <class Function>
Function* of_driver(const char* name) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return driver != nullptr ? reinterpret_cast<Function*>(dlsym(driver, name)) : nullptr;
}

void end(bool is_reported) {
  cupti::StateData state{999, "as the test wants it"};
  for (Listener& one : fake.listeners) {
    if (!one.is_there) continue;
    if (is_reported && one.wants_end) one.callback(one.data, cupti::Domain::state, cupti::fatal_error, &state);
    one.is_there = false;
  }
}

void report(int site, const FakeCall& call) {
  cupti::CallbackData data{};
  data.site = static_cast<cupti::Site>(site);
  data.function = call.name;
  data.parameters = call.parameters;
  data.result = site == 1 ? call.result : nullptr;
  data.context = call.context;
  data.context_uid = call.context_id;
  data.correlation = call.correlation;
  notify_listeners(cupti::Domain::driver_api, call.id, &data);
  const long callbacks = ++fake.callbacks;
  if (callbacks == fake.ends_after || callbacks == fake.ended_after) end(callbacks == fake.ends_after);
}

Result subscribe(cupti::Subscriber* out, cupti::Callback callback, void* data, bool is_v2, bool allows_others,
                 const char* name, char* old_name, std::size_t old_bytes) {
  const std::lock_guard lock(fake.mutex);
  if (const long error = number_from("FAKE_CUPTI_ERROR", 0); error != 0) return static_cast<Result>(error);
  const auto set_hook = of_driver<void(FakeHook)>("fake_set_hook");
  if (set_hook == nullptr) return cupti::not_initialized;
  const char* holder = std::getenv("FAKE_CUPTI_HOLDER");
  bool has_others = holder != nullptr;
  bool may_come = !has_others || std::getenv("FAKE_CUPTI_HOLDER_SHARES") != nullptr;
  for (const Listener& one : fake.listeners) {
    if (!one.is_there) continue;
    has_others = true;
    holder = one.name.c_str();
    if (one.is_v2 != is_v2 && FAKE_CUPTI_VERSION >= 130300) return cupti::not_compatible;
    may_come = fake.are_others_allowed;
  }
  if (has_others && (!may_come || !allows_others)) {
    if (old_name != nullptr) std::snprintf(old_name, old_bytes, "CUPTI for %s", holder);
    return cupti::has_a_subscriber;
  }
  fake.are_others_allowed = allows_others;
  for (Listener& one : fake.listeners) {
    if (one.is_there) continue;
    one.callback = callback;
    one.data = data;
    one.name = name;
    one.is_v2 = is_v2;
    for (unsigned id = 0; id < ids_max; ++id) one.enabled[id] = one.nvtx_enabled[id] = false;
    one.is_there = true;
    *out = &one;
    set_hook(report);
    return cupti::success;
  }
  return cupti::has_a_subscriber;
}

}  // namespace

void notify_listeners(cupti::Domain domain, cupti::CallbackId id, const void* reported) {
  for (Listener& one : fake.listeners) {
    if (!one.is_there || !(domain == cupti::Domain::nvtx ? one.nvtx_enabled : one.enabled)[id]) continue;
    ++fake.callbacks_of_listeners;
    one.callback(one.data, domain, id, reported);
  }
}

// For tests: how often a listener was called.
EXPORTED long fake_callbacks_of_listeners() {
  return fake.callbacks_of_listeners;
}

EXPORTED Result cuptiGetVersion(std::uint32_t* version) {
  *version = FAKE_CUPTI_VERSION;
  return cupti::success;
}

EXPORTED Result cuptiSubscribe(cupti::Subscriber* out, cupti::Callback callback, void* data) {
  return subscribe(out, callback, data, false, false, "somebody", nullptr, 0);
}

#if FAKE_CUPTI_VERSION >= 130000
EXPORTED Result cuptiSubscribe_v2(cupti::Subscriber* out, cupti::Callback callback, void* data,
                                  cupti::SubscriberParameters* parameters) {
  const bool may_be_several = FAKE_CUPTI_VERSION >= 130300;
  if (parameters->struct_bytes != (may_be_several ? 40 : 32)) return invalid_parameter;
  return subscribe(out, callback, data, true, may_be_several && parameters->may_have_others != 0, parameters->name,
                   parameters->old_name, parameters->old_name_bytes);
}
#endif

EXPORTED Result cuptiUnsubscribe(cupti::Subscriber subscriber) {
  const std::lock_guard lock(fake.mutex);
  auto& one = *static_cast<Listener*>(subscriber);
  if (!one.is_there) return invalid_parameter;
  one.is_there = false;
  return cupti::success;
}

EXPORTED Result cuptiEnableCallback(std::uint32_t enable, cupti::Subscriber subscriber, cupti::Domain domain,
                                    cupti::CallbackId id) {
  auto& one = *static_cast<Listener*>(subscriber);
  if (domain == cupti::Domain::state) {
    one.wants_end = enable != 0;
    return cupti::success;
  }
  if (domain == cupti::Domain::nvtx && id < ids_max) {
    one.nvtx_enabled[id] = enable != 0;
    return cupti::success;
  }
  if (domain != cupti::Domain::driver_api || id == 0 || id >= fake.unknown_from) return invalid_parameter;
  one.enabled[id] = enable != 0;
  return cupti::success;
}

EXPORTED Result cuptiGetCallbackState(std::uint32_t* enabled, cupti::Subscriber subscriber, cupti::Domain domain,
                                      cupti::CallbackId id) {
  const auto& one = *static_cast<const Listener*>(subscriber);
  if (!one.is_there || domain != cupti::Domain::driver_api || id >= fake.unknown_from) return invalid_parameter;
  *enabled = one.enabled[id] ? 1 : 0;
  return cupti::success;
}

EXPORTED Result cuptiGetDeviceId(cuda::Object context, std::uint32_t* device) {
  const auto device_of = of_driver<int(int*, cuda::Object)>("cuCtxGetDevice_v2");
  int ordinal = 0;
  if (device_of == nullptr || device_of(&ordinal, context) != 0) return invalid_parameter;
  *device = static_cast<std::uint32_t>(ordinal);
  return cupti::success;
}
