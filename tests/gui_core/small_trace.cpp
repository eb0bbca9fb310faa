#include "tests/gui_core/small_trace.h"

#include <gtest/gtest.h>

#include "analysis/write/recording.h"

namespace hbmscope::test {

SmallTrace::SmallTrace(bool reports_regions)
    : writer_(0, [this](const wire::SharedBlock& block) { EXPECT_EQ(std::nullopt, trace_.streams[0].append(block)); }) {
  trace_.streams.resize(1);
  add_heap("GPU 0", reports_regions);
}

void SmallTrace::add_heap(std::string_view name, bool reports_regions, std::string_view memory_kind) {
  wire::HeapRecord heap;
  heap.flags = wire::heap_flag::has_requested | wire::heap_flag::has_addresses |
               (reports_regions ? wire::heap_flag::has_regions : 0);
  heap.device = heap_;
  heap.layer = static_cast<std::uint8_t>(wire::Layer::pool);
  heap_ = writer_.define_heap(heap, name, memory_kind);
}

void SmallTrace::add_two_ended_heap(std::string_view name) {
  wire::HeapRecord heap;
  heap.flags = wire::heap_flag::has_requested | wire::heap_flag::has_addresses | wire::heap_flag::has_regions |
               wire::heap_flag::has_two_ends;
  heap.device = heap_;
  heap.layer = static_cast<std::uint8_t>(wire::Layer::pool);
  heap_ = writer_.define_heap(heap, name, "device");
}

void SmallTrace::add_layer(std::string_view name, wire::Layer layer) {
  wire::HeapRecord heap;
  heap.flags = wire::heap_flag::has_requested | wire::heap_flag::has_addresses | wire::heap_flag::has_regions;
  heap.device = 0;
  heap.layer = static_cast<std::uint8_t>(layer);
  heap_ = writer_.define_heap(heap, name, "device");
}

void SmallTrace::region(std::uint64_t address, std::uint64_t size) {
  wire::RegionGrowRecord region;
  region.address = address;
  region.size = size;
  region.heap = heap_;
  writer_.add(region, time_ns_ += 1000);
}

void SmallTrace::alloc(std::uint64_t address, std::uint64_t size, std::string_view function, std::uint64_t waste) {
  wire::AllocRecord block;
  block.address = address;
  block.size = size;
  block.requested = size - waste;
  block.heap = heap_;
  if (!function.empty()) {
    const std::uint32_t main = writer_.define_stack(0, writer_.define_frame("main", "train.py", 90));
    block.stack = writer_.define_stack(main, writer_.define_frame(function, "train.py", 10));
  }
  writer_.alloc(block, time_ns_ += 1000);
}

void SmallTrace::alloc_from_above(std::uint64_t address, std::uint64_t size) {
  wire::AllocRecord block;
  block.address = address;
  block.size = block.requested = size;
  block.heap = heap_;
  block.flags = wire::block_flag::upper_end;
  writer_.alloc(block, time_ns_ += 1000);
}

void SmallTrace::free(std::uint64_t address) {
  EXPECT_TRUE(writer_.free(heap_, address, 0, 0, time_ns_ += 1000));
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
  EXPECT_EQ(0U, writer_.list_heap(heap_, {&region, 1}, live, time_ns_ += 1000));
}

void SmallTrace::request_free(std::uint64_t address) {
  EXPECT_TRUE(writer_.free_requested(heap_, address, 0, 0, time_ns_ += 1000));
}

void SmallTrace::run_out_of_memory(std::uint64_t requested) {
  wire::OutOfMemoryRecord record;
  record.requested = requested;
  record.heap = heap_;
  writer_.add(record, time_ns_ += 1000);
}

void SmallTrace::say_of(std::uint64_t allocation, std::string_view key, std::string_view value) {
  wire::AttributeRecord attribute;
  attribute.allocation = allocation;
  attribute.key = writer_.define_string(key);
  attribute.value = writer_.define_string(value);
  writer_.add(attribute, time_ns_ += 1000);
}

void SmallTrace::mark(std::string_view name, std::uint8_t phase) {
  wire::MarkerRecord record;
  record.name = writer_.define_string(name);
  record.phase = phase;
  writer_.add(record, time_ns_ += 1000);
}

void SmallTrace::report(std::string_view counter, std::int64_t value) {
  wire::CounterRecord record;
  record.name = writer_.define_string(counter);
  record.value = value;
  writer_.add(record, time_ns_ += 1000);
}

const Trace& SmallTrace::trace() {
  writer_.flush();
  return trace_;
}

void SmallTrace::write(const std::string& path) {
  const auto written = write_recording(trace(), path);
  ASSERT_TRUE(written) << written.error().text();
}

}  // namespace hbmscope::test
