#include "collector/inject/device_uuids.h"

#include <atomic>
#include <cstring>

#include "collector/inject/driver_rows.h"
#include "collector/inject/loaded_objects.h"

namespace hbmscope::inject::driver {
namespace {

constexpr std::size_t uuid_bytes = 16;
struct Uuid {
  unsigned char bytes[uuid_bytes];
};
static_assert(sizeof(Uuid) == uuid_bytes);
constexpr std::size_t text_bytes = sizeof("GPU-68626d03-636f-7065-0000-000000000000");

// Written once, under the lock, before `is_known` is set. The driver's answer never changes in a process.
struct Known {
  std::atomic<bool> is_known;
  char text[text_bytes];
};
Known known[devices_max];
SpinLock writing;

bool ask(const char* function, Uuid& uuid, Device device) {
  void* helper = find_helper(Api::cuda, function);
  return helper != nullptr && reinterpret_cast<Result (*)(Uuid*, Device)>(helper)(&uuid, device) == success;
}

bool is_hex_digit(unsigned char digit) {
  return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f') || (digit >= 'A' && digit <= 'F');
}

// HIP's bytes are the digits of the GPU's own number, as in ROCR_VISIBLE_DEVICES. A GPU without one has "XX", like any
// other such GPU.
bool write_hip_text(char* text, Device device) {
  Uuid uuid{};
  if (ask_driver(Api::hip, Helper::uuid, &uuid, device) != success) return false;
  for (const unsigned char digit : uuid.bytes)
    if (!is_hex_digit(digit)) return false;
  std::memcpy(text, "GPU-", 4);
  std::memcpy(text + 4, uuid.bytes, uuid_bytes);
  text[4 + uuid_bytes] = 0;
  return true;
}

void write_text(char* text, const Uuid& uuid, bool is_slice) {
  std::memcpy(text, is_slice ? "MIG-" : "GPU-", 4);
  char* at = text + 4;
  for (std::size_t i = 0; i < uuid_bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
    *at++ = "0123456789abcdef"[uuid.bytes[i] >> 4];
    *at++ = "0123456789abcdef"[uuid.bytes[i] & 15];
  }
  *at = 0;
}

}  // namespace

const char* uuid_of(Device device) {
  if (device < 0 || static_cast<std::size_t>(device) >= devices_max) return nullptr;
  Known& one = known[device];
  if (one.is_known.load(std::memory_order_acquire)) return one.text;
  if (back_end.load(std::memory_order_acquire) == BackEnd::cupti) return nullptr;  // This may be a callback.
  // The first version of the function returns the UUID of the GPU, also for a slice of it; the second one that of the
  // slice (https://docs.nvidia.com/cuda/cuda-driver-api, cuDeviceGetUuid_v2). Drivers before 11.4 have only the first.
  Uuid own{}, of_gpu{};
  if (!is_driver_known(Api::cuda) && is_driver_known(Api::hip)) {
    char text[text_bytes];
    if (!write_hip_text(text, device)) return nullptr;
    writing.lock();
    if (!one.is_known.load(std::memory_order_relaxed)) {
      std::memcpy(one.text, text, sizeof(text));
      one.is_known.store(true, std::memory_order_release);
    }
    writing.unlock();
    return one.text;
  }
  const bool has_own = ask("cuDeviceGetUuid_v2", own, device), has_gpu = ask("cuDeviceGetUuid", of_gpu, device);
  if (!has_own && !has_gpu) return nullptr;
  const bool is_slice = has_own && has_gpu && std::memcmp(&own, &of_gpu, sizeof(own)) != 0;
  writing.lock();
  if (!one.is_known.load(std::memory_order_relaxed)) {
    write_text(one.text, has_own ? own : of_gpu, is_slice);
    one.is_known.store(true, std::memory_order_release);
  }
  writing.unlock();
  return one.text;
}

void forget_uuid_lock() {
  writing.unlock();
}

void find_all_uuids() {
  int count = 0;
  // In a job that was attached to, nobody has called one of our entry points.
  if (void* found = is_driver_known(Api::cuda) ? nullptr : find_function("cuDeviceGetCount"))
    note_driver(Api::cuda, found);
  if (ask_driver(Api::cuda, Helper::device_count, &count) != success) return;
  for (Device device = 0; device < count && static_cast<std::size_t>(device) < devices_max; ++device) uuid_of(device);
}

}  // namespace hbmscope::inject::driver
