#include "tests/gui_core/small_trace.h"

#include <gtest/gtest.h>

#include "analysis/write/recording.h"

namespace hbmscope::test {

namespace flag = wire::heap_flag;

SmallTrace::SmallTrace(bool reports_regions) {
  time_ns = 0;
  add_heap("GPU 0", reports_regions);
}

void SmallTrace::define(std::string_view name, std::uint32_t flags, wire::Layer layer, std::uint32_t device,
                        std::string_view memory_kind) {
  wire::HeapRecord heap;
  heap.flags = flag::has_requested | flag::has_addresses | flags;
  heap.device = device;
  heap.layer = static_cast<std::uint8_t>(layer);
  heap_ = writer.define_heap(heap, name, memory_kind);
}

void SmallTrace::add_heap(std::string_view name, bool reports_regions, std::string_view memory_kind) {
  define(name, reports_regions ? flag::has_regions : 0, wire::Layer::pool, heap_, memory_kind);
}

void SmallTrace::add_two_ended_heap(std::string_view name) {
  define(name, flag::has_regions | flag::has_two_ends, wire::Layer::pool, heap_);
}

void SmallTrace::add_layer(std::string_view name, wire::Layer layer) {
  define(name, flag::has_regions, layer, 0);
}

void SmallTrace::region(std::uint64_t address, std::uint64_t size) {
  grow(heap_, address, size);
}

void SmallTrace::alloc(std::uint64_t address, std::uint64_t size, std::string_view function, std::uint64_t waste) {
  std::uint32_t stack = 0;
  if (!function.empty()) {
    const std::uint32_t main = writer.define_stack(0, writer.define_frame("main", "train.py", 90));
    stack = writer.define_stack(main, writer.define_frame(function, "train.py", 10));
  }
  TraceBuilder::alloc(heap_, address, size, stack, 0, waste);
}

void SmallTrace::alloc_from_above(std::uint64_t address, std::uint64_t size) {
  TraceBuilder::alloc(heap_, address, size, 0, wire::block_flag::upper_end);
}

void SmallTrace::free(std::uint64_t address) {
  EXPECT_TRUE(TraceBuilder::free(heap_, address));
}

void SmallTrace::list(std::uint64_t address, std::uint64_t size, const std::vector<AddressRange>& blocks) {
  wire::RegionLiveRecord region;
  region.address = address;
  region.size = size;
  region.heap = heap_;
  std::vector<wire::LiveRecord> live;
  for (const AddressRange& block : blocks) {
    wire::LiveRecord& one = live.emplace_back();
    one.address = block.begin;
    one.size = one.requested = block.end - block.begin;
    one.heap = heap_;
  }
  EXPECT_EQ(0U, writer.list_heap(heap_, {&region, 1}, live, tick()));
}

void SmallTrace::tell_time(std::int64_t realtime_ns) {
  wire::ClockRecord record;
  record.realtime_ns = realtime_ns;
  writer.add(record, tick());
}

void SmallTrace::request_free(std::uint64_t address) {
  EXPECT_TRUE(writer.free_requested(heap_, address, 0, 0, tick()));
}

void SmallTrace::run_out_of_memory(std::uint64_t requested) {
  run_out(heap_, requested);
}

void SmallTrace::say_of(std::uint64_t allocation, std::string_view key, std::string_view value) {
  wire::AttributeRecord attribute;
  attribute.allocation = allocation;
  attribute.key = writer.define_string(key);
  attribute.value = writer.define_string(value);
  writer.add(attribute, tick());
}

void SmallTrace::mark(std::string_view name, std::uint8_t phase) {
  wire::MarkerRecord record;
  record.name = writer.define_string(name);
  record.phase = phase;
  writer.add(record, tick());
}

void SmallTrace::report(std::string_view counter_name, std::int64_t value) {
  tick();
  counter({}, counter_name, static_cast<std::uint64_t>(value));
}

const Trace& SmallTrace::trace() {
  writer.flush();
  return TraceBuilder::trace;
}

void SmallTrace::write(const std::string& path) {
  const auto written = write_recording(trace(), path);
  ASSERT_TRUE(written) << written.error().text();
}

}  // namespace hbmscope::test
