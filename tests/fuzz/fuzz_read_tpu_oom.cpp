// Any bytes, alone and after the beginning of a report, for the reader of TPU out-of-memory texts. A heap must be the
// sum of its blocks, an out-of-memory must have a heap, and anything else must be refused with an error text.
#include <cstdio>
#include <string>

#include "analysis/read/tpu_oom/read_tpu_oom.h"
#include "analysis/read/tpu_oom/tpu_report.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;

void read_tpu_oom_text(const std::string& text) {
  const bool is_report = !tpu_oom::find_reports(text, 1).empty();
  const auto trace = read_tpu_oom(text, "fuzz");
  require(is_report == trace.has_value(), "what looks like a report is none, or the other way round");
  if (!trace) {
    require(!trace.error().what.empty() && trace.error().file == "fuzz", "an error without words or file");
    return;
  }
  const Stream& stream = trace->streams.front();
  require(trace->import.count_of("encoding") == 0, "a block of the writer that the reader refuses");
  require(stream.last_state().problems().undefined_heaps == 0, "an event of no heap");
  for (const FailureEvent& failure : stream.failures()) require(failure.heap != 0, "a failure of no heap");
  const StreamState& state = stream.last_state();
  for (const HeapInfo& heap : stream.definitions().heaps()) {
    std::uint64_t bytes_of_blocks = 0;
    for (const LiveBlock& block : state.slots())
      if (block.is_live() && block.heap == heap.id) bytes_of_blocks += block.size;
    require(heap.id == 0 || state.heap(heap.id).in_use_bytes == bytes_of_blocks, "a heap is not the sum of its blocks");
  }
}

}  // namespace

FUZZ_TARGET(fuzz_read_tpu_oom, data, size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_tpu_oom_text(bytes);
  read_tpu_oom_text("Ran out of memory in memory space hbm. Used 2.00G of 1.00G hbm.\nTotal hbm usage >= 2.25G:\n" +
                    bytes);
  return 0;
}
