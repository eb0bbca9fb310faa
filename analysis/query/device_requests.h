// The requests that a job made of a device's allocator, out of any trace: what `replay` plays into another allocator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "allocator/replay/request_stream.h"
#include "analysis/model/result.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

struct DeviceRequests {
  allocator::RequestStream stream;      // Without a configuration; lines are 0. With origins, of this stream:
  std::size_t trace_stream = 0;         // Its number in the trace.
  std::optional<std::uint32_t> device;  // Absent: not told.
  std::string file;                     // Of a trace of several; else empty.
  allocator::RecordedPlaces places;     // Where the trace says that they were served.
  std::size_t heaps = 0;                // Of the device, that had any.
  std::size_t other_devices = 0;        // That also had requests, and are left out.
  std::uint64_t lived_before = 0;       // Blocks from before the first event: asked for first, by address.
  std::uint64_t unknown_requests = 0;   // Blocks whose request is not reported: what they take was asked.
};

// Of the device asked for, or of the one with the most requests. Blocks of the heaps that count (trace/layers.h) are
// asked for as they were, and freed when their free was complete; what an out-of-memory asked for is asked for, and
// given back at once should it be served. Errors: no such device, or no requests at all.
Result<DeviceRequests> find_device_requests(const Trace& trace, std::optional<std::uint32_t> device);

}  // namespace hbmscope
