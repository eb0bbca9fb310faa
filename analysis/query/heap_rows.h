// The figures of every heap of a trace at a given time, and every out-of-memory with the state of its heap at that
// time. Figures that a source can't know are absent, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/query/driver_pools.h"
#include "analysis/trace/moment.h"

namespace hbmscope {

struct HeapRow {
  std::string name, memory_kind, layer;
  std::string label, file;  // "GPU 0 (rank_1.pickle)" (trace/stream_names.h). `file` is empty if there is only one.
  std::size_t stream = 0;   // From 0.
  std::uint32_t heap = 0;   // Its id in the stream.
  std::optional<std::uint32_t> rank;
  std::optional<std::uint32_t> device;  // As the process numbers it.
  std::string uuid, device_name;        // The device's (trace/device_labels.h). Empty if unknown.
  std::uint64_t in_use_bytes = 0;       // Live blocks, including rounding and pending ones, and handles.
  bool is_in_use_unknown = false;       // A log tells of the heap, but not what it holds; in_use_bytes is 0.
  std::optional<std::uint64_t> requested_bytes;
  std::uint64_t pending_bytes = 0;  // Part of in_use_bytes: freed by the program, not yet free.
  std::optional<std::uint64_t> pool_bytes, free_bytes, largest_free_bytes;
  std::optional<double> external_fragmentation;  // 1 - largest free / free; absent if nothing is free.
  std::optional<double> internal_fragmentation;  // 1 - requested / in use; absent if nothing is in use.
  std::uint64_t peak_in_use_bytes = 0;           // Over the whole trace, including the state before its first event.
  std::uint64_t live_blocks = 0;                 // Without handles.
  bool is_inside_of_driver = false;              // wire::heap_flag
  // The part of the driver's memory that no framework's pool has, where their inside is seen. Absent elsewhere.
  std::optional<std::uint64_t> outside_pools_bytes;
  std::optional<DriverPools> driver_pools;                // In the driver's memory. Absent if unknown.
  std::optional<PhysicalBytes> physical;                  // Handles, mappings, reservations; absent if there are none.
  bool is_inexact = false;                                // Events were lost, and it was not listed since.
  std::optional<std::int64_t> inexact_since_start_ns;     // Since when; absent if the source has no times.
  bool is_peak_inexact = false, is_peak_minimum = false;  // See HeapPeak.
};
std::vector<HeapRow> compute_heap_rows(const Trace& trace, const std::vector<StreamState>& states);

// Sums over all streams.
EventCounts compute_event_counts(const Trace& trace);

struct FailureRow {
  std::uint64_t event = 0;
  std::optional<std::int64_t> since_start_ns;    // Absent if the source has no times.
  std::uint64_t requested_bytes = 0;             // 0: unknown, because the text about it does not say it.
  std::optional<std::uint64_t> rounded_bytes;    // What the allocator would have allocated.
  std::optional<std::uint64_t> available_bytes;  // Free on the device, outside the pool, as reported.
  // Sums over all heaps of that layer on the device, just before it; or figures reported for the request's heap.
  std::optional<std::uint64_t> used_bytes, total_free_bytes, largest_free_bytes, pool_bytes, limit_bytes;
  std::string memory_space;
  std::optional<std::uint32_t> device;
  std::string allocator, reason;      // Empty: unknown.
  bool is_inexact = false;            // Events were lost before, so used and free bytes are not exact.
  bool is_of_driver = false;          // The driver refused it; `reason` is its call, and there is no pool.
  bool is_pending = false;            // A refusal that may still be retried (query/pending_requests.h).
  std::string own_line;               // "forward model.py:54", the innermost line of your code; may be empty.
  std::optional<std::uint64_t> line;  // The line of the log that reports it, from 1.
  std::vector<std::pair<std::string, std::string>> details;  // What else it says (trace/failure_details.h), by key.

  std::string_view detail(std::string_view key) const;  // Empty if it isn't there.
};
// The last value that the source reported for a heap among the first `position` events (trace/reported_figures.h);
// absent: none.
std::optional<std::uint64_t> find_reported(const Stream& stream, std::string_view name, std::uint32_t heap,
                                           std::uint64_t position);
// The limit of the heap's pool, and the whole memory of its device: reported, or the settings of a replay.
std::optional<std::uint64_t> find_limit_bytes(const Stream& stream, std::uint32_t heap, std::uint64_t position);
std::optional<std::uint64_t> find_device_bytes(const Stream& stream, std::uint32_t heap, std::uint64_t position);
// What the recording of a dry run that fits had to spare on the device, as its verdict says it.
std::optional<std::uint64_t> find_dry_run_margin(const Stream& stream, std::uint32_t device);
// "3.07 GiB"; "an unknown size" for 0.
std::string text_from_request(std::uint64_t requested_bytes);

// One failure, with the state just before it. Null means that figures which need the state are absent.
FailureRow row_from_failure(const Stream& stream, const FailureEvent& failure, const StreamState* state);
// Only out-of-memories, in stream order. All but the last 256 of a stream are computed without the heap's state.
std::vector<FailureRow> compute_failure_rows(const Trace& trace);

}  // namespace hbmscope
