// Streams of the fake driver. A stream is a created one, or any number. It executes everything at once, until the test
// holds it:
//
//   fake_hold(stream)       events recorded from now on are not done
//   fake_go_on(stream, n)   n more events are done; ~0: all, and the stream is released
//   fake_capture(stream, 1) the stream is being captured: recording an event on it fails, because the real driver would
//                           add it to the graph
//   fake_waits()            the number of waits for events that were not done
#include <algorithm>
#include <map>
#include <mutex>

#include "tests/collector/fake_cuda/fake_driver.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace fake_driver {
namespace {

constexpr Result not_ready = 600, capture_unsupported = 900, capture_implicit = 906;
constexpr std::uintptr_t per_thread = 2;

struct FakeStream {
  std::uint64_t recorded = 0, done = 0;
  bool is_held = false, is_captured = false;
  Device device = -1;  // For a stream that was created here, not just named by a number.
};
struct FakeEvent {
  Object stream = nullptr;
  std::uint64_t number = 0;
};

std::mutex mutex;
std::map<Object, FakeStream> streams;
std::map<Object, FakeEvent> events;
std::uint64_t next_event = 0xe000, next_stream = 0x57000, waits = 0;

bool is_done(const FakeEvent& event) {
  const FakeStream& stream = streams[event.stream];
  return !stream.is_held || event.number <= stream.done;
}

}  // namespace

EXPORTED void fake_hold(Object stream) {
  const std::lock_guard lock(mutex);
  FakeStream& held = streams[stream];
  if (!held.is_held) held.done = held.recorded;
  held.is_held = true;
}
EXPORTED void fake_go_on(Object stream, std::uint64_t events_more) {
  const std::lock_guard lock(mutex);
  FakeStream& held = streams[stream];
  if (events_more > held.recorded - held.done) held.is_held = held.is_held && events_more != ~std::uint64_t{0};
  held.done = events_more > held.recorded - held.done ? held.recorded : held.done + events_more;
}
EXPORTED void fake_capture(Object stream, int captures) {
  const std::lock_guard lock(mutex);
  streams[stream].is_captured = captures != 0;
}
EXPORTED std::uint64_t fake_waits() {
  const std::lock_guard lock(mutex);
  return waits;
}

Device device_of_stream(Object stream) {
  const std::lock_guard lock(mutex);
  const auto found = streams.find(stream);
  return found == streams.end() || found->second.device < 0 ? device_of(fake_current_context()) : found->second.device;
}
Result behind::cuStreamCreate(Object* out, unsigned) {
  if (const Result result = failure_of("cuStreamCreate"); result != success) return result;
  const std::lock_guard lock(mutex);
  *out = reinterpret_cast<Object>(next_stream += 16);
  streams[*out].device = device_of(fake_current_context());
  return success;
}
Result behind::cuStreamCreateWithPriority(Object* out, unsigned flags, int) {
  if (const Result result = failure_of("cuStreamCreateWithPriority"); result != success) return result;
  return behind::cuStreamCreate(out, flags);
}
Result behind::cuStreamDestroy_v2(Object stream) {
  if (const Result result = failure_of("cuStreamDestroy_v2"); result != success) return result;
  const std::lock_guard lock(mutex);
  return streams.erase(stream) == 1 ? success : invalid_value;
}
Result behind::cuStreamDestroy(Object stream) {
  if (const Result result = failure_of("cuStreamDestroy"); result != success) return result;
  return behind::cuStreamDestroy_v2(stream);
}
// Until fake_capture() ends it.
#define CAPTURES(name, ...)                                                             \
  Result behind::name(Object stream __VA_OPT__(, ) __VA_ARGS__) {                       \
    if (const Result result = failure_of(#name); result != success) return result;      \
    fake_capture(stream != nullptr ? stream : reinterpret_cast<Object>(per_thread), 1); \
    return success;                                                                     \
  }
CAPTURES(cuStreamBeginCapture)
CAPTURES(cuStreamBeginCapture_ptsz)
CAPTURES(cuStreamBeginCapture_v2, int)
CAPTURES(cuStreamBeginCapture_v2_ptsz, int)
CAPTURES(cuStreamBeginCaptureToGraph, Object, void*, void*, Size, int)
CAPTURES(cuStreamBeginCaptureToGraph_ptsz, Object, void*, void*, Size, int)
Result behind::cuEventCreate(Object* out, unsigned) {
  if (const Result result = failure_of("cuEventCreate"); result != success) return result;
  const std::lock_guard lock(mutex);
  *out = reinterpret_cast<Object>(next_event += 16);
  events[*out] = {};
  return success;
}
EXPORTED Result cuEventDestroy_v2(Object event) {
  const std::lock_guard lock(mutex);
  return events.erase(event) == 1 ? success : invalid_value;
}
EXPORTED Result cuEventRecord(Object event, Object stream) {
  const std::lock_guard lock(mutex);
  if (events.count(event) == 0) return invalid_value;
  FakeStream& on = streams[stream];
  if (on.is_captured) return capture_unsupported;
  events[event] = {stream, ++on.recorded};
  return success;
}
EXPORTED Result cuEventQuery(Object event) {
  const std::lock_guard lock(mutex);
  if (events.count(event) == 0) return invalid_value;
  return is_done(events[event]) ? success : not_ready;
}
// The stream gets there, and no further.
EXPORTED Result cuEventSynchronize(Object event) {
  const std::lock_guard lock(mutex);
  if (events.count(event) == 0) return invalid_value;
  if (is_done(events[event])) return success;
  ++waits;
  streams[events[event].stream].done = events[event].number;
  return success;
}
EXPORTED Result cuStreamIsCapturing(Object stream, int* status) {
  end_job_if_in_hook("cuStreamIsCapturing");
  const std::lock_guard lock(mutex);
  // The oldest stream waits for all others, which none that is captured can be waited for.
  const bool is_any_captured =
      std::any_of(streams.begin(), streams.end(), [](const auto& one) { return one.second.is_captured; });
  if (reinterpret_cast<std::uintptr_t>(stream) < per_thread && is_any_captured) return capture_implicit;
  *status = streams[stream].is_captured ? 1 : 0;
  return success;
}
EXPORTED Result cuThreadExchangeStreamCaptureMode(int* mode) {
  static thread_local int own = 0;
  std::swap(*mode, own);
  return success;
}

EXPORTED Result cuCtxSynchronize() {
  return success;
}
EXPORTED Result cuMemGetAllocationGranularity(Size* out, const void*, int) {
  *out = Size{2} << 20;
  return success;
}

}  // namespace fake_driver
