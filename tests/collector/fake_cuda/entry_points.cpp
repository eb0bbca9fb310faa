// The entry points of the table as a job finds and calls them. Their implementations are in fake_cuda.cpp; the hook is
// called before and after each.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/collector/fake_cuda/fake_driver.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

std::atomic<FakeHook> hook{nullptr};
thread_local const char* hooked_call = nullptr;  // The call for which the hook is running.

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
fake_driver::Result call_through(unsigned id, const char* name, Behind behind, Types... values) {
  end_job_if_in_hook(name);
  const FakeHook reported = hook.load();
  if (reported == nullptr) return behind(values...);
  const Packed parameters(values...);
  fake_driver::Result result = fake_driver::success;
  std::uint64_t correlation = 0xfeed;  // Whatever was there.
  const FakeCall call{id, name, parameters.bytes(), &result, fake_current_context(), &correlation};
  hooked_call = name;
  reported(0, call);
  hooked_call = nullptr;
  result = behind(values...);
  hooked_call = name;
  reported(1, call);
  hooked_call = nullptr;
  return result;
}

}  // namespace

void end_job_if_in_hook(const char* name) {
  if (hooked_call == nullptr) return;
  std::fprintf(stderr, "fake_cuda: %s was called in a callback of %s\n", name, hooked_call);
  std::abort();
}

EXPORTED void fake_set_hook(FakeHook wanted) {
  hook = wanted;
}

namespace fake_driver {
namespace {

enum Id : unsigned {
#define ID(name, number) id_##name = number,
#include "collector/inject/cupti_driver_ids.inc"
};

}  // namespace

#define TAKES(name, since, parameters, arguments, ...)                     \
  EXPORTED Result name parameters {                                        \
    return call_through(id_##name, #name, behind::name, PASSED arguments); \
  }
#define PASSED(...) __VA_ARGS__
#define GIVES TAKES
#define REFUSES TAKES
#include "collector/inject/driver_entries.inc"

// A driver may return functions that it exports under no name.
namespace {
namespace unnamed {
#define TAKES(name, since, parameters, arguments, ...)                     \
  Result name parameters {                                                 \
    return call_through(id_##name, #name, behind::name, PASSED arguments); \
  }
#define GIVES TAKES
#define REFUSES TAKES
#include "collector/inject/driver_entries.inc"
}  // namespace unnamed

struct Function {
  std::string name;
  int since;
  void* address;
  void* unnamed;
};
#define TAKES(name, since, ...) {#name, since, reinterpret_cast<void*>(&name), reinterpret_cast<void*>(&unnamed::name)},
#define GIVES TAKES
#define REFUSES TAKES
const Function functions[] = {
#include "collector/inject/driver_entries.inc"
    {"cuCtxGetDevice", 2000, reinterpret_cast<void*>(&cuCtxGetDevice), reinterpret_cast<void*>(&cuCtxGetDevice)},
};

// The newest variant of a name that a program of that version knows; for the per-thread default stream if requested.
void* find_function(const std::string& symbol, int version, Flags flags) {
  const Function* best = nullptr;
  for (const bool is_per_thread : {true, false}) {
    if (is_per_thread && (flags & 2) == 0) continue;
    for (const Function& function : functions) {
      for (const char* variant : {"", "_v2", "_v3", "_v4"})
        if (function.name == symbol + variant + (is_per_thread ? "_ptsz" : "") && function.since <= version &&
            (best == nullptr || function.since >= best->since))
          best = &function;
    }
    if (best != nullptr) break;
  }
  static const bool answers_with_unnamed = std::getenv("FAKE_CUDA_UNNAMED") != nullptr;
  if (best == nullptr) return nullptr;
  return answers_with_unnamed ? best->unnamed : best->address;
}

}  // namespace

EXPORTED Result cuGetProcAddress(const char* symbol, void** out, int version, Flags flags) {
  *out = find_function(symbol, version, flags);
  return *out == nullptr ? not_found : success;
}
EXPORTED Result cuGetProcAddress_v2(const char* symbol, void** out, int version, Flags flags, int* status) {
  if (std::strcmp(symbol, "cuGetProcAddress") == 0) {
    *out = reinterpret_cast<void*>(&cuGetProcAddress_v2);
    return success;
  }
  *out = find_function(symbol, version, flags);
  if (status != nullptr) *status = *out == nullptr ? 1 : 0;
  return *out == nullptr ? not_found : success;
}

}  // namespace fake_driver
