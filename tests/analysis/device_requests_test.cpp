#include "analysis/query/device_requests.h"

#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

// "a 1024" or "f 1024" for each operation, with the size that was requested for the slot.
std::vector<std::string> texts_of(const allocator::RequestStream& stream) {
  std::vector<std::uint64_t> requested(stream.slots);
  std::vector<std::string> texts;
  for (const allocator::Operation& operation : stream.operations) {
    if (!operation.is_free) requested[operation.slot] = operation.request.bytes;
    texts.push_back((operation.is_free ? "f " : "a ") + std::to_string(requested[operation.slot]));
  }
  return texts;
}

TEST(DeviceRequests, are_requests_and_frees_in_order) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0", wire::heap_flag::has_addresses);
  builder.alloc(heap, 0x1000, 3 * kib);
  builder.alloc(heap, 0x8000, 5 * kib);
  builder.free(heap, 0x1000);
  builder.alloc(heap, 0x1000, 7 * kib);
  builder.writer.flush();
  const auto requests = find_device_requests(builder.trace, {});
  ASSERT_TRUE(requests) << requests.error().text();
  EXPECT_EQ(texts_of(requests->stream), (std::vector<std::string>{"a 3072", "a 5120", "f 3072", "a 7168"}));
  EXPECT_EQ(requests->stream.slots, 2U);
  EXPECT_EQ(requests->device, 0U);
  EXPECT_EQ(requests->other_devices, 0U);
  EXPECT_EQ(requests->unknown_requests, 0U);
}

TEST(DeviceRequests, keep_the_time_and_stack_of_each_request) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0", wire::heap_flag::has_addresses);
  const std::uint32_t stack = builder.stack("main;step");
  builder.alloc(heap, 0x1000, kib, stack);
  builder.free(heap, 0x1000);
  builder.writer.flush();
  const auto requests = find_device_requests(builder.trace, {});
  ASSERT_TRUE(requests) << requests.error().text();
  ASSERT_EQ(requests->stream.origins.size(), 2U);
  EXPECT_EQ(requests->stream.origins[0].stack, stack);
  EXPECT_EQ(requests->stream.origins[0].time_ns, 2000);
  EXPECT_EQ(requests->stream.origins[1].time_ns, 3000);
}

TEST(DeviceRequests, blocks_from_before_are_requested_first_by_address) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0", wire::heap_flag::has_addresses);
  builder.live(heap, 0x9000, 2 * kib);
  builder.live(heap, 0x1000, 1 * kib);
  builder.alloc(heap, 0x20000, 4 * kib);
  builder.free(heap, 0x9000);
  builder.writer.flush();
  const auto requests = find_device_requests(builder.trace, {});
  ASSERT_TRUE(requests) << requests.error().text();
  EXPECT_EQ(texts_of(requests->stream), (std::vector<std::string>{"a 1024", "a 2048", "a 4096", "f 2048"}));
  EXPECT_EQ(requests->lived_before, 2U);
}

TEST(DeviceRequests, a_failed_request_is_freed_at_once) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0", wire::heap_flag::has_addresses);
  builder.alloc(heap, 0x1000, kib);
  wire::OutOfMemoryRecord failure;
  failure.requested = 99 * kib;
  failure.heap = heap;
  builder.writer.add(failure, 5000);
  builder.writer.flush();
  const auto requests = find_device_requests(builder.trace, {});
  ASSERT_TRUE(requests) << requests.error().text();
  EXPECT_EQ(texts_of(requests->stream), (std::vector<std::string>{"a 1024", "a 101376", "f 101376"}));
}

TEST(DeviceRequests, one_device_at_a_time_the_busiest_first) {
  TraceBuilder builder;
  wire::HeapRecord record;
  record.flags = wire::heap_flag::has_addresses;
  record.device = 0;
  const std::uint32_t first = builder.writer.define_heap(record, "GPU 0", "device");
  record.device = 3;
  const std::uint32_t second = builder.writer.define_heap(record, "GPU 3", "device");
  builder.alloc(first, 0x1000, kib);
  builder.alloc(second, 0x1000, 2 * kib);
  builder.alloc(second, 0x8000, 3 * kib);
  builder.writer.flush();
  EXPECT_EQ(find_device_requests(builder.trace, {})->device, 3U);
  EXPECT_EQ(find_device_requests(builder.trace, {})->other_devices, 1U);
  EXPECT_EQ(texts_of(find_device_requests(builder.trace, 0)->stream), std::vector<std::string>{"a 1024"});
  EXPECT_FALSE(find_device_requests(builder.trace, 7));
}

TEST(DeviceRequests, blocks_that_go_with_their_heap_are_freed) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0", wire::heap_flag::has_addresses);
  builder.alloc(heap, 0x1000, kib);
  builder.remove(heap);
  builder.writer.flush();
  const auto requests = find_device_requests(builder.trace, {});
  ASSERT_TRUE(requests) << requests.error().text();
  EXPECT_EQ(texts_of(requests->stream), (std::vector<std::string>{"a 1024", "f 1024"}));
}

TEST(DeviceRequests, a_trace_without_any_is_an_error) {
  TraceBuilder builder;
  builder.heap("GPU 0", wire::heap_flag::has_addresses);
  builder.writer.flush();
  EXPECT_FALSE(find_device_requests(builder.trace, {}));
}

}  // namespace
}  // namespace hbmscope
