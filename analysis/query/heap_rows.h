// What every heap of a trace holds at a moment, and every out-of-memory with the heap as it then was. What a source
// can't know is absent, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/moment.h"

namespace hbmscope {

struct HeapRow {
  std::string name, memory_kind, layer;
  std::string label, file;  // "GPU 0 (rank_1.pickle)" (trace/stream_names.h); the file: empty where there is only one.
  std::size_t stream = 0;   // From 0.
  std::optional<std::uint32_t> rank;
  std::optional<std::uint32_t> device;
  std::uint64_t in_use_bytes = 0;  // Of live blocks, rounding and pending ones included, and of handles.
  std::optional<std::uint64_t> requested_bytes;
  std::uint64_t pending_bytes = 0;  // Of in_use_bytes: freed by the program, not yet free.
  std::optional<std::uint64_t> pool_bytes, free_bytes, largest_free_bytes;
  std::optional<double> external_fragmentation;  // 1 - largest free / free; absent with nothing free.
  std::optional<double> internal_fragmentation;  // 1 - requested / in use; absent with nothing in use.
  std::uint64_t peak_in_use_bytes = 0;           // Of the whole trace, the state before its first event included.
  std::uint64_t live_blocks = 0;                 // Without handles.
  std::optional<PhysicalBytes> physical;         // Of handles, mappings, reservations; absent where there are none.
  bool is_inexact = false;                       // Events were lost, and it was not listed anew since.
  std::optional<std::int64_t> inexact_since_start_ns;  // When they were; absent where the source has no times.
  bool is_peak_inexact = false;                        // See HeapPeak.
};
std::vector<HeapRow> compute_heap_rows(const Trace& trace, const std::vector<StreamState>& states);

// Sums over all streams.
EventCounts compute_event_counts(const Trace& trace);

struct FailureRow {
  std::uint64_t event = 0;
  std::optional<std::int64_t> since_start_ns;  // Absent where the source has no times.
  std::uint64_t asked_bytes = 0;
  std::optional<std::uint64_t> rounded_bytes;    // What the allocator would have taken.
  std::optional<std::uint64_t> available_bytes;  // What the driver had left, as told.
  // Of all heaps of that layer on the device, just before it; or as the source told of the one that was asked.
  std::optional<std::uint64_t> used_bytes, total_free_bytes, largest_free_bytes, pool_bytes, limit_bytes;
  std::string memory_space;
  std::optional<std::uint32_t> device;
  std::string allocator, reason;  // Empty: not told.
  bool is_inexact = false;        // Events were lost before: what was used and free is not exact.
  bool is_pending = false;        // A refusal that may be tried again still (query/pending_requests.h).
  std::string own_line;           // "forward model.py:54", the innermost line of the person's own code; may be empty.
};
// What the source told last of a heap among the first `position` events (trace/reported_figures.h); absent: nothing.
std::optional<std::uint64_t> find_told(const Stream& stream, std::string_view name, std::uint32_t heap,
                                       std::uint64_t position);
// What the job's allocator would have taken for a request; nothing where its rule is not known.
std::optional<std::uint64_t> find_rounded_request(const Definitions& definitions, std::uint64_t asked_bytes);

// One failure, with the state just before it; null: that is not worked out.
FailureRow row_from_failure(const Stream& stream, const FailureEvent& failure, const StreamState* state);
// Out-of-memories only, in the order of the streams; those before the last 256 of a stream without the state of the
// heap.
std::vector<FailureRow> compute_failure_rows(const Trace& trace);

}  // namespace hbmscope
