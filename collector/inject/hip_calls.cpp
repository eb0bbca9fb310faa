#include "collector/inject/hip_calls.h"

#include <atomic>

#include "collector/inject/device_uuids.h"
#include "collector/inject/driver_pools.h"

namespace hbmscope::inject::driver {
namespace {

__thread Device device_of_thread __attribute__((tls_model("initial-exec"))) = 0;
__thread bool is_before_call __attribute__((tls_model("initial-exec"))) = false;  // The program's call comes next.
// The runtime's, or 0 before it is queried.
std::atomic<int> version{0};
// A bit for each device whose UUID was queried.
std::atomic<std::uint64_t> devices_asked{0};
static_assert(devices_max <= 64);
// Stand for the devices; only their addresses are used.
char contexts[devices_max];

// The heap of the device may be defined later, at a moment when nothing can be queried.
void find_uuid_once(Device device) {
  const std::uint64_t bit = std::uint64_t{1} << index_of_device(device);
  if ((devices_asked.load(std::memory_order_relaxed) & bit) != 0) return;
  devices_asked.fetch_or(bit, std::memory_order_relaxed);
  uuid_of(device);
}

}  // namespace

void note_device(Device device) {
  device_of_thread = device;
}

Device remembered_device() {
  return device_of_thread;
}

Object context_of_device(Device device) {
  return device >= 0 && static_cast<std::size_t>(device) < devices_max ? &contexts[device] : nullptr;
}

void prepare_for_rows(DriverCall& call) {
  if (!is_observed()) return;
  const auto ask = reinterpret_cast<Result (*)(Device*)>(find_helper(Api::hip, Helper::device));
  Device device = 0;
  if (ask == nullptr || ask(&device) != success) return;
  call.known_device = device_of_thread = device;
  is_before_call = true;
  find_uuid_once(device);
  int found = 0;
  if (version.load(std::memory_order_relaxed) == 0 && call.ask(Helper::runtime_version, &found) == success)
    version.store(found, std::memory_order_relaxed);
  is_before_call = false;
}

bool may_ask_hip() {
  if (is_before_call) return true;
  const auto last_error = reinterpret_cast<Result (*)()>(find_helper(Api::hip, Helper::last_error));
  return last_error != nullptr && last_error() == success;
}

bool find_free_bytes_after_failure(Size& free) {
  constexpr int keeps_last_error = 70000000;  // 7.0.0, as in HIP_VERSION.
  const auto ask = reinterpret_cast<Result (*)(Size*, Size*)>(find_helper(Api::hip, Helper::free_memory));
  if (ask == nullptr || version.load(std::memory_order_relaxed) < keeps_last_error) return false;
  Size total = 0;
  const bool is_found = ask(&free, &total) == success;
  may_ask_hip();  // This makes the last error also that of the last call again (hipExtGetLastError).
  return is_found;
}

void forget_hip_failure() {
  if (void* forget = find_helper(Api::hip, Helper::forget_last_error)) reinterpret_cast<Result (*)()>(forget)();
}

void end_device(const DriverCall& call) {
  end_context(call, context_of_device(call.device()));
  forget_pools(call);
}

Size array_bytes(const ChannelFormat& format, const Extent& extent, unsigned flags, unsigned levels) {
  int bits = 0;
  for (const int of_channel : format.bits) bits += of_channel;
  return array_bytes({static_cast<Size>(bits) / 8}, flags, extent.width, extent.height, extent.depth, levels);
}

}  // namespace hbmscope::inject::driver
