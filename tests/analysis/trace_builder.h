// Traces written event by event, for tests of queries.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/moment.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope {

// A trace of one stream. Events are 1 us apart unless `time_ns` is set.
class TraceBuilder {
 public:
  wire::StreamWriter writer{
      0, [this](const wire::SharedBlock& block) { EXPECT_EQ(std::nullopt, trace.streams.front().append(block)); }};
  Trace trace{{"made-up.trace"}, "test", "Test", {}, 0, 0, std::vector<Stream>(1), {}, {}};
  std::int64_t time_ns = 1000;

  std::uint32_t heap(const std::string& name, std::uint32_t flags) {
    wire::HeapRecord record;
    record.flags = flags;
    record.device = 0;
    return writer.define_heap(record, name, "device");
  }
  // Of a framework, on device 0; its layer is the pool's.
  std::uint32_t pool(const std::string& name, std::uint32_t flags) {
    wire::HeapRecord record;
    record.layer = static_cast<std::uint8_t>(wire::Layer::pool);
    record.flags = flags;
    record.device = 0;
    return writer.define_heap(record, name, "device");
  }
  // Reported at the time of the last event.
  void counter(std::uint32_t heap, std::string_view name, std::uint64_t value) {
    wire::CounterRecord record;
    record.heap = heap;
    record.name = writer.define_string(name);
    record.value = static_cast<std::int64_t>(value);
    writer.add(record, time_ns);
  }
  void run_out(std::uint32_t heap, std::uint64_t requested, std::uint64_t available = wire::unknown_bytes) {
    wire::OutOfMemoryRecord record;
    record.requested = requested;
    record.available = available;
    record.heap = heap;
    writer.add(record, tick());
  }
  void refuse(std::uint32_t heap, std::uint64_t requested, std::uint64_t available = wire::unknown_bytes) {
    wire::DriverRefusalRecord record;
    record.requested = requested;
    record.available = available;
    record.heap = heap;
    record.call = writer.define_string("cuMemAlloc_v2");
    writer.add(record, tick());
  }
  // "outer;inner": each is a function of the file "FUNCTION.py", at line 7.
  std::uint32_t stack(const std::string& functions) {
    std::uint32_t id = 0;
    for (std::size_t begin = 0; begin < functions.size();) {
      const std::size_t end = std::min(functions.find(';', begin), functions.size());
      const std::string function = functions.substr(begin, end - begin);
      id = writer.define_stack(id, writer.define_frame(function, "/home/me/" + function + ".py", 7));
      begin = end + 1;
    }
    return id;
  }
  void grow(std::uint32_t heap, std::uint64_t address, std::uint64_t size) {
    wire::RegionGrowRecord record;
    record.address = address;
    record.size = size;
    record.heap = heap;
    writer.add(record, tick());
  }
  void alloc(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint32_t stack = 0,
             std::uint32_t flags = 0, std::uint64_t waste = 0) {
    wire::AllocRecord record;
    record.address = address;
    record.size = size;
    record.requested = size - waste;
    record.heap = heap;
    record.stack = stack;
    record.flags = flags;
    writer.alloc(record, tick());
  }
  void live(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint32_t stack = 0) {
    wire::LiveRecord record;
    record.address = address;
    record.size = record.requested = size;
    record.heap = heap;
    record.stack = stack;
    writer.live(record);
  }
  bool free(std::uint32_t heap, std::uint64_t address) { return writer.free(heap, address, 0, 0, tick()); }

  // Physical memory without a block, as cuMemCreate allocates it.
  void create(std::uint32_t heap, std::uint64_t handle, std::uint64_t size, std::uint32_t stack = 0) {
    wire::PhysicalCreateRecord record;
    record.handle = handle;
    record.size = size;
    record.heap = heap;
    record.stack = stack;
    writer.add(record, tick());
  }
  void import(std::uint32_t heap, std::uint64_t handle, std::uint64_t size) {
    wire::PhysicalImportRecord record;
    record.handle = handle;
    record.size = size;
    record.heap = heap;
    writer.add(record, tick());
  }
  void release(std::uint64_t handle) {
    wire::PhysicalReleaseRecord record;
    record.handle = handle;
    writer.add(record, tick());
  }
  void map(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint64_t handle) {
    wire::MapRecord record;
    record.address = address;
    record.size = size;
    record.handle = handle;
    record.heap = heap;
    writer.add(record, tick());
  }
  void unmap(std::uint32_t heap, std::uint64_t address, std::uint64_t size) {
    wire::UnmapRecord record;
    record.address = address;
    record.size = size;
    record.heap = heap;
    writer.add(record, tick());
  }
  void mark(std::string_view name, std::uint8_t phase, std::uint32_t device = 0) {
    wire::MarkerRecord record;
    record.name = writer.define_string(name);
    record.device = device;
    record.phase = phase;
    writer.add(record, tick());
  }
  void remove(std::uint32_t heap) {
    wire::HeapGoneRecord record;
    record.heap = heap;
    writer.drop_heap(record, tick());
  }

  // The trace then contains all events so far.
  std::vector<StreamState> states_at(const std::string& moment = "end") {
    writer.flush();
    const auto found = find_moment(trace, moment);
    EXPECT_TRUE(found) << moment;
    return compute_states(trace, *found);
  }

 protected:
  std::int64_t tick() { return time_ns += 1000; }
};

}  // namespace hbmscope
