// Any bytes, alone, after the first line of the text, and inside of HLO text, for the reader of XLA's dumps. A part
// that begins like a text of live ranges is read alone, and together with the part before it. Heaps must be the sums of
// their blocks, and no block may be outside its memory.
#include <cstdio>
#include <string>

#include "analysis/read/hlo/read_hlo.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void check(const Result<Trace>& trace) {
  if (!trace) {
    require(!trace.error().what.empty() && trace.error().file == "fuzz", "an error without words or file");
    return;
  }
  const Stream& stream = trace->streams.front();
  require(trace->import.count_of("encoding") == 0, "a block of the writer that the reader refuses");
  require(stream.last_state().problems().undefined_heaps == 0, "an event of no heap");
  require(stream.last_state().problems().unknown_frees == 0, "a free of nothing");
  for (std::uint64_t third = 0; third <= 3; ++third) {
    const StreamState state = stream.state_at(stream.end_position() * third / 3);
    for (const HeapInfo& heap : stream.definitions().heaps()) {
      if (heap.id == 0) continue;
      std::uint64_t bytes = 0;
      for (const LiveBlock& block : state.slots())
        if (block.is_live() && block.heap == heap.id) bytes += block.size;
      require(state.heap(heap.id).in_use_bytes == bytes, "a heap is not the sum of its blocks");
      if (!heap.has(wire::heap_flag::has_addresses)) continue;  // It has no size of its own.
      require(bytes <= state.heap(heap.id).space.region_bytes().value_or(0), "more is in use than there is");
    }
  }
}

void read_hlo_text(const std::string& text) {
  const std::size_t ranges = text.find("HloLiveRange (max ");
  const std::string reported = text.substr(0, ranges), beside = ranges == std::string::npos ? "" : text.substr(ranges);
  check(read_hlo(bytes_of(reported), "fuzz", nullptr, {bytes_of(beside), std::nullopt}));
  if (!beside.empty()) check(read_live_ranges_alone(bytes_of(beside), "fuzz"));
}

}  // namespace

FUZZ_TARGET(fuzz_read_hlo, data, size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_hlo_text(bytes);
  read_hlo_text("BufferAssignment:\n" + bytes);
  read_hlo_text("HloModule m, is_scheduled=true\n" + bytes);
  read_hlo_text("HloModule m, is_scheduled=true\nENTRY e {\n" + bytes + "\n}\n");
  return 0;
}
