#include "analysis/query/driver_pools.h"

#include <gtest/gtest.h>

#include "analysis/trace/trace.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope {
namespace {

TEST(DriverPools, what_they_keep_is_the_difference_of_each_at_that_time) {
  Trace trace;
  Stream& stream = trace.streams.emplace_back();
  wire::StreamWriter writer(0, [&](const wire::SharedBlock& block) { EXPECT_EQ(std::nullopt, stream.append(block)); });
  const std::uint32_t heap = writer.define_heap(wire::HeapRecord{}, "GPU 0 memory", "device");
  const auto report = [&](std::string_view name, std::int64_t value) {
    wire::CounterRecord figure;
    figure.name = writer.define_string(name);
    figure.heap = heap;
    figure.value = value;
    writer.add(figure, 1000);
  };
  report("memory pool 1 reserved bytes", 60);
  report("memory pool 1 used bytes", 20);
  report("memory pool 12 used bytes", 7);  // Its other figure is not there yet.
  report("memory pool 12 reserved bytes", 10);
  report("memory pool 1 used bytes", 0);
  report("memory pool 1 release threshold bytes", 1000);
  report("bytes reserved elsewhere", 5);
  writer.flush();
  const auto kept_at = [&](std::uint64_t position) { return find_driver_pools(stream, heap, position)->kept_bytes; };
  EXPECT_FALSE(find_driver_pools(stream, heap, 0));
  EXPECT_FALSE(find_driver_pools(stream, heap + 1, 7)) << "of another heap";
  EXPECT_EQ(60U, kept_at(1));
  EXPECT_EQ(40U, kept_at(2));
  EXPECT_EQ(40U, kept_at(3)) << "never below 0";
  EXPECT_EQ(43U, kept_at(4));
  EXPECT_EQ(63U, kept_at(5));
  EXPECT_EQ(70U, find_driver_pools(stream, heap, 7)->reserved_bytes);
  EXPECT_EQ(7U, find_driver_pools(stream, heap, 7)->used_bytes);
}

}  // namespace
}  // namespace hbmscope
