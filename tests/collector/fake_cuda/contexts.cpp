// Contexts and code of the fake driver. A device's primary context is its number plus one; a created context has more
// bits above the lowest byte. A module has every variable that is requested, with as many bytes as its name has
// letters.
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tests/collector/fake_cuda/fake_driver.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace fake_driver {
namespace {

std::mutex mutex;
std::map<Device, int> retained;
std::map<std::pair<Object, std::string>, Address> variables;
std::uintptr_t contexts = 0, modules = 0xc0de00;
Address next_variable = 0x7f0000000000;
thread_local Object current_context = nullptr;

Object primary_context(Device device) {
  return reinterpret_cast<Object>(static_cast<std::uintptr_t>(device + 1));
}

Result create_context(Object* out, Device device) {
  const std::lock_guard lock(mutex);
  *out = current_context = reinterpret_cast<Object>((++contexts << 8) + static_cast<std::uintptr_t>(device) + 1);
  return success;
}

Result load(Object* out) {
  const std::lock_guard lock(mutex);
  *out = reinterpret_cast<Object>(modules += 16);
  return success;
}

Result unload(Object module) {
  const std::lock_guard lock(mutex);
  std::erase_if(variables, [&](const auto& variable) { return variable.first.first == module; });
  return success;
}

template <class Bytes, class At>
Result find_variable(At* out, Bytes* bytes, Object module, const char* name) {
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = variables.try_emplace({module, name}, next_variable);
  if (is_new) next_variable += 0x1000;
  if (out != nullptr) *out = static_cast<At>(found->second);
  if (bytes != nullptr) *bytes = static_cast<Bytes>(std::strlen(name));
  return success;
}

}  // namespace

Device device_of(Object context) {
  return static_cast<Device>(reinterpret_cast<std::uintptr_t>(context) & 0xff) - 1;
}

EXPORTED Object fake_current_context() {
  return current_context != nullptr ? current_context : primary_context(0);
}
EXPORTED Result cuCtxSetCurrent(Object context) {
  current_context = context;
  return success;
}
EXPORTED Result cuCtxGetCurrent(Object* out) {
  end_job_if_in_hook("cuCtxGetCurrent");
  *out = fake_current_context();
  return success;
}
EXPORTED Result cuDevicePrimaryCtxGetState(Device device, unsigned* flags, int* is_active) {
  end_job_if_in_hook("cuDevicePrimaryCtxGetState");
  const std::lock_guard lock(mutex);
  *flags = 0;
  *is_active = retained[device] > 0 ? 1 : 0;
  return success;
}

namespace behind {

#define MAY_FAIL \
  if (const Result failure = failure_of(__func__); failure != success) return failure

Result cuCtxCreate(Object* out, unsigned, Device device) {
  MAY_FAIL;
  return create_context(out, device);
}
Result cuCtxCreate_v2(Object* out, unsigned, Device device) {
  MAY_FAIL;
  return create_context(out, device);
}
Result cuCtxDestroy_v2(Object context) {
  MAY_FAIL;
  give_all_of(context);
  if (current_context == context) current_context = nullptr;
  return success;
}
Result cuCtxDestroy(Object context) {
  MAY_FAIL;
  return fake_driver::cuCtxDestroy_v2(context);
}
Result cuDevicePrimaryCtxRetain(Object* out, Device device) {
  MAY_FAIL;
  const std::lock_guard lock(mutex);
  ++retained[device];
  *out = primary_context(device);
  return success;
}
Result cuDevicePrimaryCtxReset_v2(Device device) {
  MAY_FAIL;
  give_all_of(primary_context(device));
  return success;
}
Result cuDevicePrimaryCtxReset(Device device) {
  MAY_FAIL;
  return fake_driver::cuDevicePrimaryCtxReset_v2(device);
}
Result cuDevicePrimaryCtxRelease_v2(Device device) {
  MAY_FAIL;
  bool is_last = false;
  {
    const std::lock_guard lock(mutex);
    is_last = --retained[device] == 0;
  }
  if (is_last) give_all_of(primary_context(device));
  return success;
}
Result cuDevicePrimaryCtxRelease(Device device) {
  MAY_FAIL;
  return fake_driver::cuDevicePrimaryCtxRelease_v2(device);
}

Result cuModuleLoadData(Object* out, const void*) {
  MAY_FAIL;
  return load(out);
}
Result cuLibraryLoadData(Object* out, const void*, void*, void**, unsigned, void*, void**, unsigned) {
  MAY_FAIL;
  return load(out);
}
Result cuModuleUnload(Object module) {
  MAY_FAIL;
  return unload(module);
}
Result cuLibraryUnload(Object library) {
  MAY_FAIL;
  return unload(library);
}
Result cuModuleGetGlobal(Address32* out, unsigned* bytes, Object module, const char* name) {
  MAY_FAIL;
  return find_variable(out, bytes, module, name);
}
Result cuModuleGetGlobal_v2(Address* out, Size* bytes, Object module, const char* name) {
  MAY_FAIL;
  return find_variable(out, bytes, module, name);
}
Result cuLibraryGetGlobal(Address* out, Size* bytes, Object library, const char* name) {
  MAY_FAIL;
  return find_variable(out, bytes, library, name);
}
Result cuLibraryGetManaged(Address* out, Size* bytes, Object library, const char* name) {
  MAY_FAIL;
  return find_variable(out, bytes, library, name);
}

}  // namespace behind
}  // namespace fake_driver
