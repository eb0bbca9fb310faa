// Any bytes, alone, after the column names and after the first line of a debug log, for the reader of RMM's logs. The
// result must be consistent: the heap with its blocks at every third of the log, events with the counts, and nothing
// may be left over that the reader did not count.
#include <cstdio>
#include <string>

#include "analysis/read/rmm/read_rmm.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;

void require_sums(const StreamState& state, bool is_debug_log) {
  std::uint64_t bytes = 0, blocks = 0;
  for (const LiveBlock& block : state.slots()) {
    if (!block.is_live()) continue;
    bytes += block.size;
    ++blocks;
  }
  const HeapState& heap = state.heap(1);
  require(heap.in_use_bytes == bytes && heap.live_blocks == blocks, "a heap is not the sum of its blocks");
  // The debug log has the request and the block, which is not smaller.
  require(is_debug_log ? heap.known_requested_bytes() <= bytes : heap.known_requested_bytes() == bytes,
          "requested is not in use");
  require(bytes < std::uint64_t{1} << 63, "more bytes than can be added up");
}

void read_rmm_text(const std::string& text) {
  const auto trace = read_rmm({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "fuzz");
  if (!trace) {
    require(!trace.error().what.empty() && trace.error().file == "fuzz", "an error without words or file");
    return;
  }
  const Stream& stream = trace->streams.front();
  const EventCounts& counts = stream.counts();
  require(counts.total == counts.alloc + counts.free + counts.out_of_memory, "events that are none of three kinds");
  require(counts.out_of_memory == stream.failures().size(), "failures are not out-of-memories");
  require(trace->import.count_of("encoding") == 0, "a block of the writer that the reader refuses");
  const StreamProblems& problems = stream.last_state().problems();
  require(problems.bad_slots == 0 && problems.undefined_heaps == 0, "a free of nothing, or of no heap");
  require(static_cast<std::int64_t>(problems.unknown_frees) == trace->import.count_of("unknown_frees"),
          "unknown frees that nobody counted");
  require(stream.first_time_ns() >= 0 && stream.last_time_ns() >= stream.first_time_ns(), "times that run backwards");
  const bool is_debug_log = trace->producer == "RMM debug log";
  for (std::uint64_t third = 0; third <= 3; ++third)
    require_sums(stream.state_at(stream.end_position() * third / 3), is_debug_log);
}

}  // namespace

FUZZ_TARGET(fuzz_read_rmm, data, size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_rmm_text(bytes);
  read_rmm_text("Thread,Time,Action,Pointer,Size,Stream\n" + bytes);
  read_rmm_text("[1][13:52:25:387699][info  ] ----- RMM LOG BEGIN [PTDS DISABLED] -----\n" + bytes);
  return 0;
}
