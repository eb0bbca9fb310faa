// Streams that a test holds. A held stream stops in front of each event that is recorded on it, at a gate that the test
// opens: a function of the host in the stream's queue.
//
//   fake_hold(stream)       events recorded from now on are not done
//   fake_go_on(stream, n)   n more events are done, when it returns; ~0: all, and the stream is released
//   fake_waits()            the number of waits for events that were not done
//
// Who waits for an event of a held stream opens the gates up to it, and who waits for the device opens all of them, as
// nobody else would. Recording an event on a stream that is being captured fails: the real driver would add it to the
// graph, where it is never done.
#include <unistd.h>

#include <condition_variable>
#include <map>
#include <mutex>

#include "tests/collector/emulated_driver/wrapped.h"

extern "C" hbmscope::cuda::Result cuStreamQuery(hbmscope::cuda::Object stream);

namespace emulated_driver {
namespace {

struct HeldStream {
  std::uint64_t recorded = 0, open = 0;  // Events, and the gates up to which the stream may go on.
  std::uint64_t waits_at = 0;            // The last gate that it found closed.
  bool is_held = false;
};
struct Recorded {
  HeldStream* stream = nullptr;
  std::uint64_t number = 0;
};
struct HeldStreams {
  std::mutex recording;  // Gates are queued in the order of their numbers.
  std::mutex mutex;
  std::condition_variable changed;
  std::map<Object, HeldStream> streams;
  std::map<Object, Recorded> events;
  std::uint64_t waits = 0;
};
// Made when the library is loaded, as in allocator/emulated/cuda/driver/streams.cpp; streams may wait when the process
// ends.
HeldStreams* const all_held = new HeldStreams;
HeldStreams& held() {
  return *all_held;
}

void wait_at_gate(void* data) {
  const Recorded gate = *static_cast<Recorded*>(data);
  delete static_cast<Recorded*>(data);
  std::unique_lock lock(held().mutex);
  if (gate.number > gate.stream->open) gate.stream->waits_at = gate.number;
  held().changed.wait(lock, [&] { return gate.number <= gate.stream->open; });
}

void open_all_gates() {
  const std::lock_guard lock(held().mutex);
  for (auto& [handle, stream] : held().streams) stream.open = stream.recorded;
  held().changed.notify_all();
}

bool has_settled(Object handle) {
  {
    const std::lock_guard lock(held().mutex);
    const HeldStream& stream = held().streams[handle];
    if (stream.waits_at > stream.open) return true;
  }
  return ::cuStreamQuery(handle) == success;
}

}  // namespace

EXPORTED void fake_hold(Object handle) {
  const std::lock_guard lock(held().mutex);
  HeldStream& stream = held().streams[handle];
  if (!stream.is_held) stream.open = stream.recorded;
  stream.is_held = true;
}
EXPORTED void fake_go_on(Object handle, std::uint64_t events_more) {
  {
    const std::lock_guard lock(held().mutex);
    HeldStream& stream = held().streams[handle];
    const std::uint64_t left = stream.recorded - stream.open;
    if (events_more == ~std::uint64_t{0}) stream.is_held = false;
    stream.open += events_more < left ? events_more : left;
    held().changed.notify_all();
  }
  while (!has_settled(handle)) usleep(20);
}
EXPORTED std::uint64_t fake_waits() {
  const std::lock_guard lock(held().mutex);
  return held().waits;
}

namespace behind {

Result cuEventRecord(Object event, Object handle) {
  int is_captured = 0;
  if (emulated_cuStreamIsCapturing(handle, &is_captured) == success && is_captured != 0) return capture_unsupported;
  const std::lock_guard in_order(held().recording);
  Recorded* gate = nullptr;
  {
    const std::lock_guard lock(held().mutex);
    HeldStream& stream = held().streams[handle];
    const Recorded recorded{&stream, ++stream.recorded};
    held().events[event] = recorded;
    if (stream.is_held)
      gate = new Recorded(recorded);
    else
      stream.open = stream.recorded;
  }
  if (gate != nullptr) emulated_cuLaunchHostFunc(handle, reinterpret_cast<void*>(&wait_at_gate), gate);
  return emulated_cuEventRecord(event, handle);
}
Result cuEventSynchronize(Object event) {
  {
    const std::lock_guard lock(held().mutex);
    const auto found = held().events.find(event);
    if (found != held().events.end() && found->second.number > found->second.stream->open) {
      ++held().waits;
      found->second.stream->open = found->second.number;
      held().changed.notify_all();
    }
  }
  return emulated_cuEventSynchronize(event);
}

Result cuCtxSynchronize() {
  open_all_gates();
  return emulated_cuCtxSynchronize();
}
Result cuMemFree_v2(Address at) {
  open_all_gates();
  return emulated_cuMemFree_v2(at);
}
Result cuMemFreeHost(void* at) {
  open_all_gates();
  return emulated_cuMemFreeHost(at);
}
Result cuStreamDestroy_v2(Object stream) {
  open_all_gates();
  return emulated_cuStreamDestroy_v2(stream);
}
Result cuStreamDestroy(Object stream) {
  return emulated_driver::cuStreamDestroy_v2(stream);
}

}  // namespace behind
}  // namespace emulated_driver
