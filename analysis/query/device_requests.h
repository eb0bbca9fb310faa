// A job's requests to one device's allocator, extracted from any trace; `replay` plays them into another allocator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allocator/reference/replay/player.h"
#include "analysis/model/result.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

struct DeviceRequests {
  allocator::RequestStream stream;      // No configuration, and lines are 0. Origins refer to this stream:
  std::size_t trace_stream = 0;         // Its index in the trace.
  std::optional<std::uint32_t> device;  // Absent: unknown.
  std::string file;                     // If the trace has several files; else empty.
  allocator::RecordedPlaces places;     // Where the trace reports their addresses.
  std::size_t heaps = 0;                // The device's heaps that had requests.
  std::size_t other_devices = 0;        // Devices that also had requests, and are left out.
  std::uint64_t lived_before = 0;       // Blocks from before the first event: requested first, by address.
  std::uint64_t unknown_requests = 0;   // Blocks without a known requested size: their block size is used.

  // The number of events up to and including that of each operation. 0 means from before the first event.
  std::vector<std::uint64_t> positions;
  // When the program freed blocks whose memory was free only later, in order. Most often another stream used them.
  struct ProgramFree {
    std::uint64_t position = 0;
    allocator::EarlyFree free;
  };
  std::vector<ProgramFree> program_frees;
  // By operation, where the pool has two ends: the block is at the upper one. Which memory space that is depends on the
  // version of the allocator (allocator/reference/xla_gpu/version.h); the requests here are all of default memory.
  std::vector<bool> at_upper_end;
  bool has_two_ends = false;
  std::size_t private_pools = 0, streams = 0;  // How many private pools and streams had requests.

  // Nothing was served: an error text has the request that failed, and none before it.
  bool has_only_failures() const;

  // The failure's event number, by operation: of each request that ran out of memory.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> failures;  // Operation, event; ascending.
};

// For the given device, or the one with the most requests; of one stream of the trace, or of all. Covers the heaps that
// count (trace/layers.h): blocks are requested at their original events, and freed when their free completed. A request
// that ran out of memory is requested too, and freed at once if it succeeds. Errors: no such device, or no requests at
// all.
Result<DeviceRequests> find_device_requests(const Trace& trace, std::optional<std::uint32_t> device,
                                            std::optional<std::size_t> stream = {});

}  // namespace hbmscope
