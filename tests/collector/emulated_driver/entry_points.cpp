// The entry points as a job finds and calls them.
//
//   EMULATED_DRIVER_UNNAMED=1   cuGetProcAddress returns functions that are exported under no name
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

#include "tests/collector/emulated_driver/wrapped.h"

namespace {

std::atomic<FakeHook> hook{nullptr};
thread_local const char* hooked_call = nullptr;  // The call for which the hook is running.

// A call from inside the hook ends the job, because with a real driver it may hang.
void end_job_if_in_hook(const char* name) {
  if (hooked_call == nullptr) return;
  std::fprintf(stderr, "emulated_driver: %s was called in a callback of %s\n", name, hooked_call);
  std::abort();
}

// Parameters as the members of a struct.
class Packed {
 public:
  template <class... Types>
  explicit Packed(const Types&... values) {
    (put(values), ...);
  }
  const void* bytes() const { return bytes_; }

 private:
  template <class Type>
  void put(const Type& value) {
    while (used_ % alignof(Type) != 0) ++used_;
    std::memcpy(bytes_ + used_, &value, sizeof(value));
    used_ += sizeof(value);
  }
  alignas(16) unsigned char bytes_[256] = {};
  std::size_t used_ = 0;
};

template <class Behind, class... Types>
emulated_driver::Result work(const char* name, Behind behind, Types... values) {
  emulated_driver::delay_half();
  emulated_driver::Result result = emulated_driver::failure_of(name);
  if (result == emulated_driver::success) {
    emulated_driver::ensure_context();
    result = behind(values...);
  }
  emulated_driver::delay_half();
  return result;
}

template <class Behind, class Values>
emulated_driver::Result call_through(unsigned id, const char* name, Behind behind, const Values& values) {
  end_job_if_in_hook(name);
  const auto run = [&] { return std::apply([&](auto... each) { return work(name, behind, each...); }, values); };
  const FakeHook reported = hook.load();
  if (reported == nullptr) return run();
  const Packed parameters = std::apply([](auto... each) { return Packed(each...); }, values);
  emulated_driver::Result result = emulated_driver::success;
  std::uint64_t correlation = 0xfeed;  // Whatever was there.
  const emulated_driver::Object context = emulated_driver::current_context();
  const std::uint32_t context_id = emulated_driver::id_of_context(context);
  const FakeCall call{id, name, parameters.bytes(), &result, context, context_id, &correlation};
  hooked_call = name;
  reported(0, call);
  hooked_call = nullptr;
  result = run();
  hooked_call = name;
  reported(1, call);
  hooked_call = nullptr;
  return result;
}

}  // namespace

EXPORTED void fake_set_hook(FakeHook wanted) {
  hook = wanted;
}

namespace emulated_driver {
namespace {

enum Id : unsigned {
#define ID(name, number) id_##name = number,
#include "collector/inject/cupti_driver_ids.inc"
};

}  // namespace

#define PASSED(...) __VA_ARGS__

namespace behind {

// Weak: other files have some that do something else.
#define ALLOCATES(name, since, parameters, arguments, ...) \
  __attribute__((weak)) Result name parameters {           \
    return emulated_##name(PASSED arguments);              \
  }
#define FREES ALLOCATES
#define REFUSES ALLOCATES
#include "collector/inject/driver_entries.inc"
#define OTHER(name, parameters, arguments)       \
  __attribute__((weak)) Result name parameters { \
    return emulated_##name(PASSED arguments);    \
  }
#include "tests/collector/emulated_driver/other_entries.inc"

}  // namespace behind

#define ALLOCATES(name, since, parameters, arguments, ...)                          \
  EXPORTED Result name parameters {                                                 \
    return call_through(id_##name, #name, behind::name, std::make_tuple arguments); \
  }
#define FREES ALLOCATES
#define REFUSES ALLOCATES
#include "collector/inject/driver_entries.inc"
#define OTHER(name, parameters, arguments) \
  EXPORTED Result name parameters {        \
    end_job_if_in_hook(#name);             \
    ensure_context();                      \
    return behind::name(PASSED arguments); \
  }
#include "tests/collector/emulated_driver/other_entries.inc"

// A driver may return functions that it exports under no name.
namespace {
namespace unnamed {
#define ALLOCATES(name, since, parameters, arguments, ...)                          \
  Result name parameters {                                                          \
    return call_through(id_##name, #name, behind::name, std::make_tuple arguments); \
  }
#define FREES ALLOCATES
#define REFUSES ALLOCATES
#include "collector/inject/driver_entries.inc"
}  // namespace unnamed

struct Wrapped {
  void *named, *unnamed;
};
// By the address that allocator/emulated/cuda finds.
const std::map<void*, Wrapped>& wrapped() {
  static const std::map<void*, Wrapped>* all = new std::map<void*, Wrapped>{
#define FUNCTION(name) reinterpret_cast<void*>(&name)
#define ALLOCATES(name, ...) {FUNCTION(emulated_##name), {FUNCTION(name), FUNCTION(unnamed::name)}},
#define FREES ALLOCATES
#define REFUSES ALLOCATES
#define RESOLVES(name, ...) {FUNCTION(emulated_##name), {FUNCTION(name), FUNCTION(name)}},
#include "collector/inject/driver_entries.inc"
#define OTHER(name, ...) {FUNCTION(emulated_##name), {FUNCTION(name), FUNCTION(name)}},
#include "tests/collector/emulated_driver/other_entries.inc"
  };
  return *all;
}

}  // namespace

EXPORTED Result cuGetProcAddress_v2(const char* symbol, void** out, int version, Flags flags, int* status) {
  static const bool answers_with_unnamed = std::getenv("EMULATED_DRIVER_UNNAMED") != nullptr;
  const Result result = emulated_cuGetProcAddress_v2(symbol, out, version, flags, status);
  if (const auto found = wrapped().find(*out); found != wrapped().end())
    *out = answers_with_unnamed ? found->second.unnamed : found->second.named;
  return result;
}
EXPORTED Result cuGetProcAddress(const char* symbol, void** out, int version, Flags flags) {
  return cuGetProcAddress_v2(symbol, out, version, flags, nullptr);
}

}  // namespace emulated_driver
