#include "allocator/emulated/cuda/runtime/driver_calls.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <type_traits>

namespace hbmscope::device::runtime {
namespace {

template <class... Parameters>
Result answer_not_supported(Parameters...) {
  return error_not_supported;
}
template <class... Parameters>
void put_stub(Result (*&function)(Parameters...)) {
  function = &answer_not_supported<Parameters...>;
}

DriverCalls* find_driver() {
  auto* calls = new DriverCalls{};
#define X(name, version, parameters) put_stub(calls->name);
  HBMSCOPE_RUNTIME_CALLS(X)
#undef X
  put_stub(calls->cuGetProcAddress);
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  void* lookup = library == nullptr ? nullptr : dlsym(library, "cuGetProcAddress_v2");
  if (lookup == nullptr) return calls;
  calls->cuGetProcAddress = reinterpret_cast<decltype(calls->cuGetProcAddress)>(lookup);
  const auto find = [&](const char* name, int version, auto& function) {
    void* found = nullptr;
    if (calls->cuGetProcAddress(name, &found, version, 0, nullptr) == success && found != nullptr)
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
  };
#define X(name, version, parameters) find(#name, version, calls->name);
  HBMSCOPE_RUNTIME_CALLS(X)
#undef X
  return calls;
}

thread_local Error last_error = success;

// One reference to each primary context, for the life of the process.
Object primary_context(const DriverCalls& calls, int device) {
  static std::mutex mutex;
  static std::map<int, Object> retained;
  std::lock_guard lock(mutex);
  Object& context = retained[device];
  if (context == nullptr) calls.cuDevicePrimaryCtxRetain(&context, device);
  return context;
}

}  // namespace

const DriverCalls& driver_calls() {
  static const DriverCalls* calls = find_driver();
  return *calls;
}

const DriverCalls& driver_with_context() {
  const DriverCalls& calls = driver_calls();
  Object current = nullptr;
  calls.cuCtxGetCurrent(&current);
  if (current == nullptr) calls.cuCtxSetCurrent(primary_context(calls, device_of_thread()));
  return calls;
}

Error keep(Error error) {
  if (error != success) last_error = error;
  return error;
}

int& device_of_thread() {
  thread_local int device = 0;
  return device;
}

}  // namespace hbmscope::device::runtime

using namespace hbmscope::device::runtime;

HBMSCOPE_EXPORTED Error cudaSetDevice(int device) {
  int count = 0;
  driver_calls().cuDeviceGetCount(&count);
  if (device < 0 || device >= count) return keep(error_invalid_device);
  device_of_thread() = device;
  Object context = primary_context(driver_calls(), device);
  return keep(context == nullptr ? error_out_of_memory : driver_calls().cuCtxSetCurrent(context));
}
HBMSCOPE_EXPORTED Error cudaInitDevice(int device, unsigned, unsigned) {
  return keep(primary_context(driver_calls(), device) == nullptr ? error_out_of_memory : success);
}
HBMSCOPE_EXPORTED Error cudaGetLastError() {
  const Error error = last_error;
  last_error = success;
  return error;
}
HBMSCOPE_EXPORTED Error cudaPeekAtLastError() {
  return last_error;
}
