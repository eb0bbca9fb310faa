// Bytes that are seen at several layers count once.
#include "analysis/trace/layers.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "analysis/trace/profile_from_trace.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope {
namespace {

using wire::Layer;

// A stream of one process; pid 0: it doesn't say.
class Source {
 public:
  Source(Trace& trace, int pid)
      : writer_(0, [&trace, at = trace.streams.size()](wire::SharedBlock block) {
          trace.streams[at].append(std::move(block));
        }) {
    trace.streams.emplace_back();
    if (pid != 0) writer_.add_job_fact("pid", std::to_string(pid));
  }
  ~Source() { writer_.flush(); }

  std::uint32_t heap(Layer layer, std::uint32_t parent = 0, std::uint32_t device = 0,
                     std::string_view kind = "device", std::uint32_t flags = 0) {
    wire::HeapRecord heap;
    heap.flags = flags;
    heap.layer = static_cast<std::uint8_t>(layer);
    heap.parent = parent;
    heap.device = device;
    return writer_.define_heap(heap, text_from_layer(layer), kind);
  }
  void alloc(std::uint32_t heap, std::uint64_t address, std::uint64_t size) {
    wire::AllocRecord block;
    block.address = address;
    block.size = size;
    block.heap = heap;
    writer_.alloc(block, ++time_);
  }
  void create(std::uint32_t heap, std::uint64_t handle, std::uint64_t size) {
    wire::PhysicalCreateRecord record;
    record.handle = handle;
    record.size = size;
    record.heap = heap;
    writer_.add(record, ++time_);
  }

 private:
  wire::StreamWriter writer_;
  std::int64_t time_ = 0;
};

std::int64_t total_of(const Trace& trace) {
  const auto moment = find_moment(trace, "end");
  const Profile profile = profile_from_trace(trace, compute_states(trace, *moment));
  return std::accumulate(profile.values[1].begin(), profile.values[1].end(), std::int64_t{0});
}

TEST(Layers, a_pool_that_is_seen_from_the_inside_counts_instead_of_the_driver) {
  Trace trace;
  {
    Source source(trace, 0);
    const std::uint32_t driver = source.heap(Layer::physical), host = source.heap(Layer::physical, 0, 0, "host_pinned");
    const std::uint32_t pool = source.heap(Layer::pool, 0, 0, "device", wire::heap_flag::is_inside_of_driver);
    source.alloc(driver, 1 << 20, 600'000);
    source.alloc(pool, 1 << 20, 1000);
    source.alloc(host, 1 << 28, 77);
  }
  EXPECT_EQ(total_of(trace), 1000);
}

TEST(Layers, a_physical_and_a_pool_heap_of_one_device_are_added_once) {
  Trace trace;
  {
    Source source(trace, 0);
    const std::uint32_t driver = source.heap(Layer::physical), pool = source.heap(Layer::pool, driver);
    source.alloc(driver, 1 << 20, 600'000);
    source.create(driver, 7, 50'000);
    source.alloc(pool, 1 << 20, 1000);
    source.alloc(pool, (1 << 20) + 1024, 2000);
    // No link was reported, and the device is the same.
    source.alloc(source.heap(Layer::framework), 1 << 20, 900);
    // Other bytes: another device; the host's, which are no device's.
    source.alloc(source.heap(Layer::pool, 0, 1), 1 << 20, 10);
    source.alloc(source.heap(Layer::physical, 0, 0, "host_pinned"), 1 << 20, 3);
  }
  EXPECT_EQ((std::vector<bool>{false, true, false, false, true, false}), find_counted_heaps(trace)[0]);
  EXPECT_EQ(600'000 + 50'000 + 10, total_of(trace));
}

TEST(Layers, an_extra_pool_counts_only_if_there_is_no_other) {
  Trace trace;
  {
    Source source(trace, 0);
    source.alloc(source.heap(Layer::pool, 0, 0, "hbm"), 1 << 20, 700);
    source.alloc(source.heap(Layer::pool, 0, 1, kind_of_extra_pool), 1 << 20, 5000);
  }
  EXPECT_EQ(700, total_of(trace));
  EXPECT_EQ(1U, find_moment(trace, "peak")->positions[0]) << "of the trace's own memory";
  Trace alone;
  {
    Source source(alone, 0);
    source.alloc(source.heap(Layer::pool, 0, 1, kind_of_extra_pool), 1 << 20, 5000);
  }
  EXPECT_EQ(5000, total_of(alone));
}

TEST(Layers, streams_of_one_process_are_views_of_the_same_bytes_and_those_of_others_are_not) {
  Trace trace;
  {
    Source framework(trace, 11), driver(trace, 11), second_driver(trace, 11), other(trace, 12), unreported(trace, 0);
    framework.alloc(framework.heap(Layer::framework, 0, 0, "hbm"), 4096, 1);
    driver.alloc(driver.heap(Layer::physical), 4096, 20);
    second_driver.alloc(second_driver.heap(Layer::physical), 4096, 300);
    other.alloc(other.heap(Layer::pool), 4096, 4000);
    unreported.alloc(unreported.heap(Layer::pool), 4096, 50'000);
  }
  EXPECT_EQ(20 + 4000 + 50'000, total_of(trace));
}

TEST(Layers, host_memory_counts_where_there_is_no_other) {
  Trace trace;
  {
    Source source(trace, 0);
    source.alloc(source.heap(Layer::pool, 0, wire::no_device, "host"), 4096, 100);
    source.alloc(source.heap(Layer::pool, 0, 0, "managed"), 4096, 7);
  }
  EXPECT_EQ(107, total_of(trace));
}

TEST(Layers, a_heap_inside_one_that_counts_does_not) {
  Trace trace;
  {
    Source source(trace, 0);
    const std::uint32_t pool = source.heap(Layer::pool);
    source.alloc(pool, 4096, 100);
    // A child of the same layer, and one that does not know its device.
    source.alloc(source.heap(Layer::pool, pool), 4096, 7);
    source.alloc(source.heap(Layer::chunk, pool, wire::no_device), 4096, 7);
  }
  EXPECT_EQ(100, total_of(trace));
}

}  // namespace
}  // namespace hbmscope
