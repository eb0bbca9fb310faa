#include "collector/inject/device_memory.h"

#include "collector/inject/driver_rows.h"
#include "collector/inject/hip_calls.h"
#include "collector/inject/loaded_objects.h"

namespace hbmscope::inject::driver {
namespace {

template <class... Parameters>
bool call(const char* function, Parameters... parameters) {
  void* helper = find_helper(Api::cuda, function);
  return helper != nullptr && reinterpret_cast<Result (*)(Parameters...)>(helper)(parameters...) == success;
}

// The calling thread has a context of the device during the scope, if the device has one that is in use. If another
// thread lets go of the last one just between the two questions, ours is made anew, and gone at the end of the scope.
class ContextOf {
 public:
  explicit ContextOf(Device device) : device_(device) {
    Device current = -1;
    if (ask_driver(Api::cuda, Helper::device, &current) == success && current == device) {
      is_current_ = true;
      return;
    }
    unsigned flags = 0;
    int is_active = 0;
    if (!call("cuDevicePrimaryCtxGetState", device, &flags, &is_active) || is_active == 0) return;
    Object context = nullptr;
    if (!call("cuDevicePrimaryCtxRetain", &context, device)) return;
    is_retained_ = true;
    is_current_ = is_pushed_ = call("cuCtxPushCurrent_v2", context);
  }
  ~ContextOf() {
    Object popped = nullptr;
    if (is_pushed_) call("cuCtxPopCurrent_v2", &popped);
    if (is_retained_ && !call("cuDevicePrimaryCtxRelease_v2", device_)) call("cuDevicePrimaryCtxRelease", device_);
  }
  ContextOf(const ContextOf&) = delete;
  ContextOf& operator=(const ContextOf&) = delete;

  bool is_current() const { return is_current_; }

 private:
  Device device_;
  bool is_current_ = false, is_pushed_ = false, is_retained_ = false;
};

// In a job that was attached to, nobody may have called one of our entry points yet. A job on AMD's GPUs may have
// CUDA's library too, which then doesn't count.
bool is_cuda_known() {
  if (is_driver_known(Api::cuda)) return true;
  if (is_driver_known(Api::hip)) return false;
  if (void* found = find_function("cuDeviceGetCount")) note_driver(Api::cuda, found);
  return is_driver_known(Api::cuda);
}

// HIP's numbers and figures are those of the calling thread's device.
std::uint64_t hip_bytes(Device device, bool is_total) {
  Device current = -1;
  Size free = 0, total = 0;
  if (ask_driver(Api::hip, Helper::device, &current) != success || current != device) return wire::unknown_bytes;
  if (!is_total) return find_free_bytes_after_failure(free) ? free : wire::unknown_bytes;
  return ask_driver(Api::hip, Helper::free_memory, &free, &total) == success ? total : wire::unknown_bytes;
}

bool is_device(std::uint32_t device) {
  return device < devices_max;
}

}  // namespace

std::uint64_t total_bytes_of(std::uint32_t device) {
  if (!is_device(device)) return wire::unknown_bytes;
  const auto ordinal = static_cast<Device>(device);
  if (!is_cuda_known()) return is_driver_known(Api::hip) ? hip_bytes(ordinal, true) : wire::unknown_bytes;
  Size total = 0;
  return call("cuDeviceTotalMem_v2", &total, ordinal) ? total : wire::unknown_bytes;
}

std::uint64_t free_bytes_of(std::uint32_t device) {
  if (!is_device(device)) return wire::unknown_bytes;
  const auto ordinal = static_cast<Device>(device);
  if (!is_cuda_known()) return is_driver_known(Api::hip) ? hip_bytes(ordinal, false) : wire::unknown_bytes;
  const ContextOf context(ordinal);
  Size free = 0, total = 0;
  if (!context.is_current() || ask_driver(Api::cuda, Helper::free_memory, &free, &total) != success)
    return wire::unknown_bytes;
  return free;
}

}  // namespace hbmscope::inject::driver
