// Contexts: one primary context a device, others on request, and a stack of current ones for each thread.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include "allocator/emulated/cuda/driver/objects.h"

using namespace hbmscope::device;
using namespace hbmscope::device::driver;

namespace {

// The current contexts of a thread. No destructor: one would keep the library loaded until the thread ends.
class ContextStack {
 public:
  bool empty() const { return depth_ == 0; }
  Context* back() const { return contexts_[depth_ - 1]; }
  bool push_back(Context* context) {
    if (depth_ == contexts_max) return false;
    contexts_[depth_++] = context;
    return true;
  }
  void pop_back() { --depth_; }
  void remove(Context* context) {
    depth_ = static_cast<int>(std::remove(contexts_, contexts_ + depth_, context) - contexts_);
  }

 private:
  static constexpr int contexts_max = 64;
  Context* contexts_[contexts_max] = {};
  int depth_ = 0;
};
thread_local ContextStack stack;

struct Primary {
  Context context{0, true};
  int retained = 0;
};
struct Contexts {
  std::mutex mutex;
  std::map<int, Primary> primary;  // Primary contexts keep their handle for ever.
  std::set<Context*> others;
};
Contexts* const all_contexts = new Contexts;  // Made when the library is loaded, as in streams.cpp.
Contexts& contexts() {
  return *all_contexts;
}

Context* context_from(Object handle) {
  return static_cast<Context*>(handle);
}
bool is_device(int device) {
  return device >= 0 && device < LockedMachine()->device_count();
}

Result create_context(Object* out, unsigned flags, DeviceOrdinal device) {
  if (!is_device(device)) return error_invalid_device;
  if (const Outcome outcome = LockedMachine()->device(device).open_context(); outcome != Outcome::ok)
    return result_from(outcome);
  auto* context = new Context{device, false, flags};
  {
    std::lock_guard lock(contexts().mutex);
    contexts().others.insert(context);
  }
  stack.push_back(context);
  *out = context;
  return success;
}

}  // namespace

namespace hbmscope::device::driver {

unsigned long long next_context_id() {
  static std::atomic<unsigned long long> ids{0};
  return ++ids;
}
Context* current_context() {
  return stack.empty() ? nullptr : stack.back();
}
int current_device() {
  return stack.empty() ? 0 : stack.back()->device;
}

}  // namespace hbmscope::device::driver

HBMSCOPE_EXPORTED Result cuDevicePrimaryCtxRetain(Object* out, DeviceOrdinal device) {
  if (!is_device(device)) return error_invalid_device;
  std::lock_guard lock(contexts().mutex);
  Primary& primary = contexts().primary[device];
  if (primary.retained == 0) {
    const Outcome outcome = LockedMachine()->device(device).open_context();
    if (outcome != Outcome::ok) return result_from(outcome);
  }
  ++primary.retained;
  primary.context.device = device;
  *out = &primary.context;
  return success;
}

HBMSCOPE_EXPORTED Result cuDevicePrimaryCtxRelease_v2(DeviceOrdinal device) {
  if (!is_device(device)) return error_invalid_device;
  std::lock_guard lock(contexts().mutex);
  Primary& primary = contexts().primary[device];
  if (primary.retained == 0) return error_invalid_context;
  if (--primary.retained > 0) return success;
  unload_modules_of(&primary.context);
  const LockedMachine machine;
  machine->free_all_of(number_of(&primary.context));
  machine->device(device).close_context();
  return success;
}
HBMSCOPE_EXPORTED Result cuDevicePrimaryCtxRelease(DeviceOrdinal device) {
  return cuDevicePrimaryCtxRelease_v2(device);
}
// The context stays, with nothing in it.
HBMSCOPE_EXPORTED Result cuDevicePrimaryCtxReset_v2(DeviceOrdinal device) {
  if (!is_device(device)) return error_invalid_device;
  std::lock_guard lock(contexts().mutex);
  Context* context = &contexts().primary[device].context;
  unload_modules_of(context);
  LockedMachine()->free_all_of(number_of(context));
  return success;
}
HBMSCOPE_EXPORTED Result cuDevicePrimaryCtxReset(DeviceOrdinal device) {
  return cuDevicePrimaryCtxReset_v2(device);
}

HBMSCOPE_EXPORTED Result cuDevicePrimaryCtxGetState(DeviceOrdinal device, unsigned* flags, int* is_active) {
  if (!is_device(device)) return error_invalid_device;
  std::lock_guard lock(contexts().mutex);
  const Primary& primary = contexts().primary[device];
  if (flags != nullptr) *flags = primary.context.flags;
  if (is_active != nullptr) *is_active = primary.retained > 0;
  return success;
}
HBMSCOPE_EXPORTED Result cuDevicePrimaryCtxSetFlags_v2(DeviceOrdinal device, unsigned flags) {
  if (!is_device(device)) return error_invalid_device;
  std::lock_guard lock(contexts().mutex);
  contexts().primary[device].context.flags = flags;
  return success;
}
HBMSCOPE_EXPORTED Result cuDevicePrimaryCtxSetFlags(DeviceOrdinal device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

HBMSCOPE_EXPORTED Result cuCtxCreate_v2(Object* out, unsigned flags, DeviceOrdinal device) {
  return create_context(out, flags, device);
}
HBMSCOPE_EXPORTED Result cuCtxCreate_v3(Object* out, void*, int, unsigned flags, DeviceOrdinal device) {
  return create_context(out, flags, device);
}
HBMSCOPE_EXPORTED Result cuCtxCreate_v4(Object* out, void*, unsigned flags, DeviceOrdinal device) {
  return create_context(out, flags, device);
}

HBMSCOPE_EXPORTED Result cuCtxDestroy_v2(Object handle) {
  Context* context = context_from(handle);
  {
    std::lock_guard lock(contexts().mutex);
    if (contexts().others.erase(context) == 0) return error_invalid_context;
  }
  unload_modules_of(context);
  {
    const LockedMachine machine;
    machine->free_all_of(number_of(context));
    machine->device(context->device).close_context();
  }
  stack.remove(context);
  delete context;
  return success;
}

// Deprecated since CUDA 4.0.
HBMSCOPE_EXPORTED Result cuCtxAttach(Object* out, unsigned flags) {
  if (flags != 0) return error_invalid_value;
  Context* context = current_context();
  if (context == nullptr || context->is_primary) return error_invalid_context;
  ++context->uses;
  *out = context;
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxDetach(Object handle) {
  {
    std::lock_guard lock(contexts().mutex);
    Context* context = context_from(handle);
    if (!contexts().others.contains(context)) return error_invalid_context;
    if (--context->uses > 0) return success;
  }
  return cuCtxDestroy_v2(handle);
}

HBMSCOPE_EXPORTED Result cuCtxGetCurrent(Object* out) {
  *out = current_context();
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxSetCurrent(Object context) {
  if (!stack.empty()) stack.pop_back();
  if (context != nullptr) stack.push_back(context_from(context));
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxPushCurrent_v2(Object context) {
  if (context == nullptr || !stack.push_back(context_from(context))) return error_invalid_context;
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxPopCurrent_v2(Object* out) {
  if (stack.empty()) return error_invalid_context;
  if (out != nullptr) *out = stack.back();
  stack.pop_back();
  return success;
}

HBMSCOPE_EXPORTED Result cuCtxGetDevice(DeviceOrdinal* out) {
  if (stack.empty()) return error_invalid_context;
  *out = current_device();
  return success;
}
// The device of any context; since CUDA 13.
HBMSCOPE_EXPORTED Result cuCtxGetDevice_v2(DeviceOrdinal* out, Object context) {
  if (context == nullptr) return cuCtxGetDevice(out);
  *out = context_from(context)->device;
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxGetApiVersion(Object, unsigned* version) {
  *version = 3020;
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxGetId(Object context, unsigned long long* id) {
  const Context* identified = context != nullptr ? context_from(context) : current_context();
  if (identified == nullptr) return error_invalid_context;
  *id = identified->id;
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxGetFlags(unsigned* flags) {
  *flags = stack.empty() ? 0 : stack.back()->flags;
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxSynchronize() {
  if (stack.empty()) return error_invalid_context;
  wait_for_device(current_device());
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxSynchronize_v2(Object context) {
  wait_for_device(context == nullptr ? current_device() : context_from(context)->device);
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxGetLimit(Size* value, int) {
  *value = 1024;
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxGetCacheConfig(int* config) {
  *config = 0;
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxGetSharedMemConfig(int* config) {
  *config = 1;  // Four-byte banks.
  return success;
}
