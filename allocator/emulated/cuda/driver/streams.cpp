// Streams, events and capture.
#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "allocator/emulated/cuda/driver/objects.h"

using namespace hbmscope::device;
using namespace hbmscope::device::driver;

namespace {

struct Streams {
  std::mutex mutex;
  std::map<int, std::unique_ptr<Stream>> by_default;  // Each device's.
  std::set<Stream*> others;
};
// Made when the library is loaded, not by the first thread that needs it: tools such as ThreadSanitizer don't see how
// other threads of a program learn of that. Never destroyed: other threads outlive main.
Streams* const all_streams = new Streams;
Streams& streams() {
  return *all_streams;
}

Stream& default_stream(int device) {
  std::lock_guard lock(streams().mutex);
  std::unique_ptr<Stream>& stream = streams().by_default[device];
  if (stream == nullptr) stream = std::make_unique<Stream>(device, 0, 0);
  return *stream;
}

// An event's handle points to a pointer, as queued work may outlive the handle.
using EventPointer = std::shared_ptr<Event>;
EventPointer& event_from(Object handle) {
  return *static_cast<EventPointer*>(handle);
}

constexpr unsigned non_blocking = 1;  // CU_STREAM_NON_BLOCKING
// CU_STREAM_LEGACY and CU_STREAM_PER_THREAD; 0 is one of them.
constexpr std::uintptr_t legacy_handle = 1, per_thread_handle = 2;

// CUstreamCaptureStatus
constexpr int not_capturing = 0, capturing = 1;

std::uint64_t next_capture_id() {
  static std::atomic<std::uint64_t> ids{0};
  return ++ids;
}

void begin_capture(Stream& stream, Graph* graph) {
  stream.capture = graph;
  stream.capture_id = next_capture_id();
  stream.began_capture = true;
}

}  // namespace

namespace hbmscope::device::driver {

Stream& stream_from(Object handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) > per_thread_handle) {
    std::lock_guard lock(streams().mutex);
    const auto found = streams().others.find(static_cast<Stream*>(handle));
    if (found != streams().others.end()) return **found;
  }
  return default_stream(current_device());
}

void wait_for_device(int device) {
  std::vector<Stream*> waited;
  {
    std::lock_guard lock(streams().mutex);
    for (Stream* stream : streams().others)
      if (stream->device == device) waited.push_back(stream);
  }
  for (Stream* stream : waited) stream->wait();
  default_stream(device).wait();
  LockedMachine()->has_synchronized();
}

bool is_captured(Stream& stream, int type) {
  if (stream.capture == nullptr) return false;
  stream.capture->add_captured(type);
  return true;
}

void run_kernels(Stream& stream) {
  static Contents& contents = LockedMachine()->contents();  // It has a lock of its own.
  stream.run([] { contents.note_launch(); }, kernel_ns);
}

}  // namespace hbmscope::device::driver

// For the libraries above the driver, whose products are not computed: an empty kernel.
HBMSCOPE_EXPORTED void hbmscope_device_launch_on(Object handle) {
  Stream& stream = stream_from(handle);
  if (!is_captured(stream, node_type::kernel)) run_kernels(stream);
}

// The same for what they have copied already as if it were computed.
HBMSCOPE_EXPORTED void hbmscope_device_note_launch() {
  LockedMachine()->contents().note_launch();
}

HBMSCOPE_EXPORTED Result cuStreamCreateWithPriority(Object* out, unsigned flags, int priority) {
  if (current_context() == nullptr) return error_invalid_context;
  auto* stream = new Stream(current_device(), flags, priority);
  std::lock_guard lock(streams().mutex);
  streams().others.insert(stream);
  *out = stream;
  return success;
}
HBMSCOPE_EXPORTED Result cuStreamCreate(Object* out, unsigned flags) {
  return cuStreamCreateWithPriority(out, flags, 0);
}

HBMSCOPE_EXPORTED Result cuStreamDestroy_v2(Object handle) {
  auto* stream = static_cast<Stream*>(handle);
  {
    std::lock_guard lock(streams().mutex);
    if (streams().others.erase(stream) == 0) return error_invalid_handle;
  }
  delete stream;
  return success;
}

HBMSCOPE_EXPORTED Result cuStreamSynchronize(Object handle) {
  stream_from(handle).wait();
  LockedMachine()->has_synchronized();
  return success;
}
HBMSCOPE_EXPORTED Result cuStreamQuery(Object handle) {
  return stream_from(handle).is_idle() ? success : error_not_ready;
}
HBMSCOPE_EXPORTED Result cuStreamGetPriority(Object handle, int* priority) {
  *priority = stream_from(handle).priority;
  return success;
}
HBMSCOPE_EXPORTED Result cuStreamGetFlags(Object handle, unsigned* flags) {
  *flags = stream_from(handle).flags;
  return success;
}
HBMSCOPE_EXPORTED Result cuStreamGetId(Object handle, unsigned long long* id) {
  *id = stream_from(handle).id;
  return success;
}
HBMSCOPE_EXPORTED Result cuStreamGetDevice(Object handle, DeviceOrdinal* device) {
  *device = stream_from(handle).device;
  return success;
}
// The primary context of the stream's device, whichever context it was made with.
HBMSCOPE_EXPORTED Result cuDevicePrimaryCtxRetain(Object* out, DeviceOrdinal device);
HBMSCOPE_EXPORTED Result cuDevicePrimaryCtxRelease_v2(DeviceOrdinal device);
HBMSCOPE_EXPORTED Result cuStreamGetCtx(Object handle, Object* context) {
  Stream& stream = stream_from(handle);
  if (current_context() != nullptr && current_device() == stream.device) {
    *context = current_context();
    return success;
  }
  const Result result = cuDevicePrimaryCtxRetain(context, stream.device);
  return result != success ? result : cuDevicePrimaryCtxRelease_v2(stream.device);
}

HBMSCOPE_EXPORTED Result cuLaunchHostFunc(Object handle, void (*function)(void*), void* data) {
  Stream& stream = stream_from(handle);
  if (!is_captured(stream, node_type::host)) stream.run_on_thread([=] { function(data); });
  return success;
}
// The mode says how the waiting thread waits.
HBMSCOPE_EXPORTED Result cuLaunchHostFunc_v2(Object stream, void (*function)(void*), void* data, unsigned) {
  return cuLaunchHostFunc(stream, function, data);
}
HBMSCOPE_EXPORTED Result cuStreamAddCallback(Object handle, void (*function)(Object, Result, void*), void* data,
                                             unsigned) {
  stream_from(handle).run_on_thread([=] { function(handle, success, data); });
  return success;
}

// Flags & 3 is the comparison: 0 greater or equal, 1 equal, 2 any bit in common, 3 neither.
namespace {
template <class Value>
bool is_reached(Address at, Value wanted, unsigned comparison) {
  const Value value = *reinterpret_cast<volatile Value*>(at);
  switch (comparison & 3) {
    case 0: return static_cast<std::make_signed_t<Value>>(value - wanted) >= 0;
    case 1: return value == wanted;
    case 2: return (value & wanted) != 0;
    default: return static_cast<Value>(~(value | wanted)) != 0;
  }
}
template <class Value>
Result write_in_order(Object handle, Address at, Value value) {
  stream_from(handle).run([=] { *reinterpret_cast<volatile Value*>(at) = value; }, 0);
  return success;
}
template <class Value>
Result wait_in_order(Object handle, Address at, Value wanted, unsigned comparison) {
  stream_from(handle).run_on_thread([=] {
    while (!is_reached(at, wanted, comparison)) std::this_thread::sleep_for(std::chrono::microseconds(50));
  });
  return success;
}
}  // namespace
HBMSCOPE_EXPORTED Result cuStreamWriteValue32_v2(Object stream, Address at, std::uint32_t value, unsigned) {
  return write_in_order(stream, at, value);
}
HBMSCOPE_EXPORTED Result cuStreamWriteValue64_v2(Object stream, Address at, std::uint64_t value, unsigned) {
  return write_in_order(stream, at, value);
}
HBMSCOPE_EXPORTED Result cuStreamWaitValue32_v2(Object stream, Address at, std::uint32_t value, unsigned flags) {
  return wait_in_order(stream, at, value, flags);
}
HBMSCOPE_EXPORTED Result cuStreamWaitValue64_v2(Object stream, Address at, std::uint64_t value, unsigned flags) {
  return wait_in_order(stream, at, value, flags);
}

HBMSCOPE_EXPORTED Result cuEventCreate(Object* out, unsigned) {
  *out = new EventPointer(std::make_shared<Event>());
  return success;
}
HBMSCOPE_EXPORTED Result cuEventDestroy_v2(Object event) {
  delete static_cast<EventPointer*>(event);
  return success;
}
HBMSCOPE_EXPORTED Result cuEventRecord(Object event, Object handle) {
  Stream& stream = stream_from(handle);
  event_from(event)->capture = stream.capture;
  event_from(event)->capture_id = stream.capture_id;
  if (stream.capture == nullptr) Event::record(event_from(event), stream);
  return success;
}
HBMSCOPE_EXPORTED Result cuEventRecordWithFlags(Object event, Object stream, unsigned) {
  return cuEventRecord(event, stream);
}
HBMSCOPE_EXPORTED Result cuEventQuery(Object event) {
  return event_from(event)->is_done() ? success : error_not_ready;
}
HBMSCOPE_EXPORTED Result cuEventSynchronize(Object event) {
  event_from(event)->wait();
  LockedMachine()->has_synchronized();
  return success;
}
HBMSCOPE_EXPORTED Result cuEventElapsedTime_v2(float* milliseconds, Object begin, Object end) {
  if (!event_from(begin)->was_recorded() || !event_from(end)->was_recorded()) return error_invalid_handle;
  const auto difference = static_cast<std::int64_t>(event_from(end)->time_ns() - event_from(begin)->time_ns());
  *milliseconds = static_cast<float>(static_cast<double>(difference) * 1e-6);
  return success;
}
HBMSCOPE_EXPORTED Result cuEventElapsedTime(float* milliseconds, Object begin, Object end) {
  return cuEventElapsedTime_v2(milliseconds, begin, end);
}
// An event of another process: work there is unknown here, and taken as done.
HBMSCOPE_EXPORTED Result cuIpcGetEventHandle(IpcHandle* out, Object) {
  *out = IpcHandle{};
  return success;
}
HBMSCOPE_EXPORTED Result cuIpcOpenEventHandle(Object* out, IpcHandle) {
  return cuEventCreate(out, 0);
}
// A stream that waits for an event of a stream that captures joins its capture.
HBMSCOPE_EXPORTED Result cuStreamWaitEvent(Object handle, Object event, unsigned) {
  Stream& stream = stream_from(handle);
  const EventPointer& waited = event_from(event);
  if (waited->capture == nullptr) {
    Event::make_wait(waited, stream);
  } else if (stream.capture == nullptr) {
    stream.capture = waited->capture;
    stream.capture_id = waited->capture_id;
  }
  return success;
}

HBMSCOPE_EXPORTED Result cuStreamBeginCapture_v2(Object handle, int) {
  begin_capture(stream_from(handle), new Graph);
  return success;
}
HBMSCOPE_EXPORTED Result cuStreamBeginCapture(Object stream) {
  return cuStreamBeginCapture_v2(stream, 0);
}
HBMSCOPE_EXPORTED Result cuStreamBeginCaptureToGraph(Object handle, Object graph, const Object*, const void*, Size,
                                                     int) {
  begin_capture(stream_from(handle), static_cast<Graph*>(graph));
  return success;
}
HBMSCOPE_EXPORTED Result cuStreamEndCapture(Object handle, Object* graph) {
  Stream& origin = stream_from(handle);
  if (origin.capture == nullptr || !origin.began_capture) return error_invalid_value;
  if (graph != nullptr) *graph = origin.capture;
  const std::uint64_t ended = origin.capture_id;
  const auto leave = [ended](Stream& stream) {
    if (stream.capture_id != ended) return;
    stream.capture = nullptr;
    stream.capture_id = 0;
    stream.began_capture = false;
  };
  std::lock_guard lock(streams().mutex);
  for (Stream* stream : streams().others) leave(*stream);
  for (auto& [device, stream] : streams().by_default) leave(*stream);
  return success;
}
// Documented: the legacy stream waits for all blocking streams, so it can't be queried while one of them is captured.
HBMSCOPE_EXPORTED Result cuStreamIsCapturing(Object handle, int* status) {
  if (reinterpret_cast<std::uintptr_t>(handle) <= legacy_handle) {
    std::lock_guard lock(streams().mutex);
    for (const Stream* stream : streams().others)
      if (stream->capture != nullptr && stream->device == current_device() && (stream->flags & non_blocking) == 0)
        return error_capture_implicit;
  }
  *status = stream_from(handle).capture != nullptr ? capturing : not_capturing;
  return success;
}
HBMSCOPE_EXPORTED Result cuStreamGetCaptureInfo_v2(Object handle, int* status, std::uint64_t* id, Object* graph,
                                                   const Object** dependencies, Size* count) {
  Stream& stream = stream_from(handle);
  *status = stream.capture != nullptr ? capturing : not_capturing;
  if (stream.capture == nullptr) return success;
  thread_local Object last[1];
  const bool is_empty = stream.capture->nodes().empty();
  last[0] = is_empty ? nullptr : &stream.capture->nodes().back();
  if (id != nullptr) *id = stream.capture_id;
  if (graph != nullptr) *graph = stream.capture;
  if (dependencies != nullptr) *dependencies = last;
  if (count != nullptr) *count = is_empty ? 0 : 1;
  return success;
}
HBMSCOPE_EXPORTED Result cuStreamGetCaptureInfo_v3(Object handle, int* status, std::uint64_t* id, Object* graph,
                                                   const Object** dependencies, const void** edges, Size* count) {
  if (edges != nullptr) *edges = nullptr;
  return cuStreamGetCaptureInfo_v2(handle, status, id, graph, dependencies, count);
}
HBMSCOPE_EXPORTED Result cuStreamGetCaptureInfo(Object handle, int* status, std::uint64_t* id) {
  return cuStreamGetCaptureInfo_v2(handle, status, id, nullptr, nullptr, nullptr);
}
HBMSCOPE_EXPORTED Result cuThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;
  std::swap(*mode, current);
  return success;
}
