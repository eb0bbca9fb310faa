// The entry points as a job finds and calls them. Settings, besides those of ../emulated_driver:
//
//   EMULATED_HIP_VERSION=7   a call that succeeds does not change the thread's last error (default: 6, where it does)
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/collector/emulated_hip/wrapped.h"

extern "C" void fake_use_device(hbmscope::cuda::Device device);

namespace emulated_hip {
namespace {

thread_local Device device_of_thread = 0;
thread_local Result last_error = success;

bool keeps_last_error() {
  static const bool keeps = [] {
    const char* version = std::getenv("EMULATED_HIP_VERSION");
    return version != nullptr && std::atoi(version) >= 7;
  }();
  return keeps;
}

template <class Behind, class... Types>
Result call_through(const char* name, Behind behind, Types... values) {
  emulated_driver::delay_half();
  Result result = emulated_driver::failure_of(name);
  if (result == success) {
    use_device();
    result = behind(values...);
  }
  emulated_driver::delay_half();
  return noted(result);
}

}  // namespace

Result noted(Result result) {
  if (result != success || !keeps_last_error()) last_error = result;
  return result;
}

Device use_device() {
  fake_use_device(device_of_thread);
  return device_of_thread;
}

void set_device(Device device) {
  device_of_thread = device;
}

#define PASSED(...) __VA_OPT__(, ) __VA_ARGS__

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
namespace behind {
// Weak: other files have those that do something.
#define ALLOCATES(name, since, parameters, ...)  \
  __attribute__((weak)) Result name parameters { \
    return success;                              \
  }
#define FREES ALLOCATES
#define REFUSES ALLOCATES
#include "collector/inject/hip_entries.inc"
}  // namespace behind
#pragma GCC diagnostic pop

#define ALLOCATES(name, since, parameters, arguments, ...)     \
  EXPORTED Result name parameters {                            \
    return call_through(#name, behind::name PASSED arguments); \
  }
#define FREES ALLOCATES
#define REFUSES ALLOCATES
#include "collector/inject/hip_entries.inc"

// Like AMD's, it looks the name up in itself.
EXPORTED Result hipGetProcAddress(const char* symbol, void** out, int, Flags flags, void*) {
  constexpr Flags per_thread_stream = 2;
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&use_device), &self) == 0) return noted(invalid_value);
  static void* const library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *out = nullptr;
  if ((flags & per_thread_stream) != 0) *out = dlsym(library, (std::string(symbol) + "_spt").c_str());
  if (*out == nullptr) *out = dlsym(library, symbol);
  return noted(*out != nullptr ? success : invalid_value);
}
EXPORTED Result hipGetProcAddress_spt(const char* symbol, void** out, int version, Flags, void* status) {
  return hipGetProcAddress(symbol, out, version, 2, status);
}

EXPORTED Result hipInit(unsigned) {
  return noted(success);
}
EXPORTED Result hipGetDevice(Device* out) {
  *out = device_of_thread;
  return noted(success);
}
EXPORTED Result hipGetDeviceCount(int* out) {
  return noted(::cuDeviceGetCount(out));
}
EXPORTED Result hipRuntimeGetVersion(int* out) {
  *out = keeps_last_error() ? 70151831 : 60443484;
  return noted(success);
}
EXPORTED Result hipDeviceGetUuid(char* out, Device device) {
  std::memcpy(out, "68626d0363f70650", 16);
  out[15] = static_cast<char>('0' + device);
  return noted(success);
}
EXPORTED Result hipPeekAtLastError() {
  return last_error;
}
EXPORTED Result hipGetLastError() {
  const Result result = last_error;
  last_error = success;
  return result;
}

}  // namespace emulated_hip
