// What the libraries share: handles, and the one thing that all of their computations do, which is to occupy a place on
// a stream.
#include <dlfcn.h>

#include <mutex>
#include <unordered_set>

#include "allocator/emulated/cuda/libraries/common.h"

namespace hbmscope::device::libraries {
namespace {

struct Handles {
  std::mutex mutex;
  std::unordered_set<Handle> known;
};
Handles& handles() {
  static Handles* const all = new Handles;  // Never destroyed: other threads outlive main.
  return *all;
}

}  // namespace

Status create(Handle* out) {
  *out = new Settings;
  const std::lock_guard lock(handles().mutex);
  handles().known.insert(*out);
  return success;
}

Status destroy(Handle handle) {
  {
    const std::lock_guard lock(handles().mutex);
    if (handles().known.erase(handle) == 0) return success;
  }
  delete static_cast<Settings*>(handle);
  return success;
}

bool is_handle(Handle handle) {
  const std::lock_guard lock(handles().mutex);
  return handles().known.count(handle) != 0;
}

void* find_in_driver(const char* name) {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return driver == nullptr ? nullptr : dlsym(driver, name);
}

void launch_on(Handle stream) {
  static const auto launch = reinterpret_cast<void (*)(Handle)>(find_in_driver("hbmscope_device_launch_on"));
  if (launch != nullptr) launch(stream);
}

}  // namespace hbmscope::device::libraries

// What generated functions with the answer `launches` call. Old variants of functions have no handle.
extern "C" void hbmscope_device_launch(void* handle) {
  using namespace hbmscope::device::libraries;
  if (is_handle(handle)) launch_on(settings_of(handle).stream);
}
