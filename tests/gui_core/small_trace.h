// A TraceBuilder that writes into one heap at a time: a pool with regions that the test names. Written to disk it is a
// recording that the window opens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/address_range.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope::test {

class SmallTrace : TraceBuilder {
 public:
  explicit SmallTrace(bool reports_regions = true);

  // Later calls refer to this heap.
  void add_heap(std::string_view name, bool reports_regions = true, std::string_view memory_kind = "device");
  void add_two_ended_heap(std::string_view name);
  void add_layer(std::string_view name, wire::Layer layer);  // On the device of the first heap.
  void heap_of(std::uint32_t heap) { heap_ = heap; }         // Later calls refer to this heap; numbered from 1.
  void region(std::uint64_t address, std::uint64_t size);
  // `function` is at line 10 of train.py and was called by main. Without one the block has no stack.
  void alloc(std::uint64_t address, std::uint64_t size, std::string_view function = {}, std::uint64_t waste = 0);
  void alloc_from_above(std::uint64_t address, std::uint64_t size);  // From the upper end.
  void free(std::uint64_t address);
  // All that is live in the heap, of which the source knows no allocations: a region and the blocks in it.
  void list(std::uint64_t address, std::uint64_t size, const std::vector<AddressRange>& blocks);
  void request_free(std::uint64_t address);  // A device stream still uses it.
  void run_out_of_memory(std::uint64_t requested);
  void say_of(std::uint64_t allocation, std::string_view key, std::string_view value);  // By its event.
  void mark(std::string_view name, std::uint8_t phase = 0);                             // 0 instant, 1 begins, 2 ends.
  void report(std::string_view counter, std::int64_t value);                            // Belongs to no heap.
  void tell_time(std::int64_t realtime_ns);  // What the clock of the day shows now.
  void time_passes(std::int64_t ns) { time_ns += ns; }
  void fact(std::string_view key, std::string_view value) { writer.add_job_fact(key, value); }

  const Trace& trace();  // With everything written so far.
  const StreamState& state() { return trace().streams[0].last_state(); }
  void write(const std::string& path);

 private:
  void define(std::string_view name, std::uint32_t flags, wire::Layer layer, std::uint32_t device,
              std::string_view memory_kind = "device");

  std::uint32_t heap_ = 0;
};

}  // namespace hbmscope::test
