// What a test can set, besides the settings of allocator/emulated/cuda, whose defaults are other ones here: two devices
// of 1 TiB, contexts that take nothing, and an account that is exact to the byte.
//
//   EMULATED_DRIVER_SLOW_US=100   every call takes that long
//
// fake_fail(name, result, times)  the next calls of a function fail
// fake_use_device(device)         makes its primary context current, without retaining it
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "allocator/emulated/cuda/model/settings.h"
#include "tests/collector/emulated_driver/wrapped.h"

extern "C" hbmscope::cuda::Result cuCtxGetId(hbmscope::cuda::Object context, unsigned long long* id);
extern "C" hbmscope::cuda::Result cuCtxSetCurrent(hbmscope::cuda::Object context);

namespace emulated_driver {
namespace {

__attribute__((constructor)) void set_defaults() {
  hbmscope::device::Settings settings;
  settings.device_count = 2;
  settings.total_bytes = std::uint64_t{1} << 40;
  settings.context_bytes = 0;
  settings.granularity = 1;
  hbmscope::device::set_default_settings(settings);
}

struct Failures {
  std::mutex mutex;
  std::atomic<bool> are_any = false;
  std::map<std::string, std::pair<Result, int>> by_name;
};
Failures* const all_failures = new Failures;  // Made when the library is loaded, as in held_streams.cpp.
Failures& failures() {
  return *all_failures;
}

// A primary context keeps its address for ever; nobody owns it here.
Object primary_context(Device device) {
  static std::mutex mutex;
  static auto* known = new std::map<Device, Object>;
  const std::lock_guard lock(mutex);
  Object& context = (*known)[device];
  if (context == nullptr && emulated_cuDevicePrimaryCtxRetain(&context, device) == success)
    emulated_cuDevicePrimaryCtxRelease_v2(device);
  return context;
}

}  // namespace

Object current_context() {
  Object context = nullptr;
  emulated_cuCtxGetCurrent(&context);
  return context != nullptr ? context : primary_context(0);
}

std::uint32_t id_of_context(Object context) {
  unsigned long long id = 0;
  ::cuCtxGetId(context, &id);
  return static_cast<std::uint32_t>(id);
}

void ensure_context() {
  Object context = nullptr;
  emulated_cuCtxGetCurrent(&context);
  if (context == nullptr) ::cuCtxSetCurrent(primary_context(0));
}

void delay_half() {
  static const long slow_us = [] {
    const char* text = std::getenv("EMULATED_DRIVER_SLOW_US");
    return text != nullptr ? std::atol(text) : 0;
  }();
  if (slow_us > 0) usleep(static_cast<useconds_t>(slow_us / 2));
}

Result failure_of(const char* name) {
  if (!failures().are_any) return success;
  const std::lock_guard lock(failures().mutex);
  const auto found = failures().by_name.find(name);
  if (found == failures().by_name.end() || found->second.second == 0) return success;
  --found->second.second;
  return found->second.first;
}

EXPORTED void fake_use_device(Device device) {
  ::cuCtxSetCurrent(primary_context(device));
}

}  // namespace emulated_driver

EXPORTED void fake_fail(const char* name, hbmscope::cuda::Result result, int times) {
  auto& failures = emulated_driver::failures();
  const std::lock_guard lock(failures.mutex);
  failures.by_name[name] = {result, times};
  failures.are_any = true;
}
