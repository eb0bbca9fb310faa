// Memory dumps of BFC allocators: messages written by hand, and the real ones of the data folder if it is available.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "analysis/query/heap_rows.h"
#include "analysis/read/bfc/read_memory_dump.h"
#include "analysis/read/bfc/trace_from_bfc.h"
#include "analysis/trace/moment.h"
#include "tests/analysis/proto_message.h"
#include "tests/analysis/text_bytes.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

using tests::Message;

Message chunk(std::uint64_t address, std::uint64_t size, std::uint64_t requested, bool is_in_use) {
  return Message().number(1, address).number(2, size).number(3, requested).number(8, is_in_use ? 1 : 0);
}

// Two regions, the second of them first: 1 MiB of 4 MiB in use, and 2 MiB that are all in use.
Message two_regions() {
  Message dump;
  dump.text(1, "GPU_3_bfc").add(2, Message().number(1, 12).number(2, 1 * mib).number(3, 1 * mib));
  dump.add(3, chunk(0x40000000, 2 * mib, 2 * mib - 100, true));
  dump.add(3, chunk(0x10000000, 1 * mib, 7 * mib, false));
  dump.add(3, chunk(0x10100000, 1 * mib, 1 * mib - 4, true).text(5, "jit(step)/dot"));
  dump.add(3, chunk(0x10200000, 2 * mib, 0, false));
  dump.add(5, Message().number(1, 9).number(2, 3 * mib).number(3, 5 * mib));
  return dump;
}

HeapRow heap_of(const Trace& trace) {
  const auto rows = compute_heap_rows(trace, {trace.streams.front().last_state()});
  EXPECT_EQ(rows.size(), 1);
  return rows.front();
}

TEST(MemoryDump, chunks_become_regions_blocks_and_free_memory) {
  const std::string bytes = two_regions().bytes;
  ASSERT_TRUE(bfc::looks_like_memory_dump(bytes_of(bytes)));
  const auto dump = bfc::read_memory_dump(bytes_of(bytes), "dump");
  ASSERT_TRUE(dump);
  const Trace trace = bfc::trace_from_dump(*dump, "dump", bytes.size());
  EXPECT_EQ(trace.import.count_of("sums_differ"), 0);
  const HeapRow heap = heap_of(trace);
  EXPECT_EQ(heap.device, 3U);
  EXPECT_EQ(heap.live_blocks, 2U);
  EXPECT_EQ(heap.in_use_bytes, 3 * mib);
  EXPECT_EQ(heap.requested_bytes, 3 * mib - 104);  // The requested size of a free chunk is that of its last use.
  EXPECT_EQ(heap.pool_bytes, 6 * mib);
  EXPECT_EQ(heap.free_bytes, 3 * mib);
  EXPECT_EQ(heap.largest_free_bytes, 2 * mib);
}

TEST(MemoryDump, a_total_that_differs_from_the_chunks_is_counted) {
  Message dump;
  dump.text(1, "GPU_0_bfc").add(3, chunk(0x1000, 256, 4, true)).add(5, Message().number(1, 1).number(2, 512));
  const auto read = bfc::read_memory_dump(bytes_of(dump.bytes), "dump");
  ASSERT_TRUE(read);
  EXPECT_EQ(bfc::trace_from_dump(*read, "dump", 1).import.count_of("sums_differ"), 1);
}

TEST(MemoryDump, every_cut_is_an_error_or_a_shorter_dump) {
  const std::string bytes = two_regions().bytes;
  std::size_t errors = 0;
  for (std::size_t end = 1; end < bytes.size(); ++end) {
    const auto dump = bfc::read_memory_dump(bytes_of(bytes.substr(0, end)), "dump");
    if (!dump) {
      ++errors;
      EXPECT_EQ(dump.error().file, "dump");
      EXPECT_LE(dump.error().offset, end);
    } else {
      EXPECT_EQ(bfc::trace_from_dump(*dump, "dump", end).import.count_of("encoding"), 0);
    }
  }
  EXPECT_GT(errors, bytes.size() / 2);
}

TEST(MemoryDump, a_profile_is_not_taken_for_one) {
  // A pprof profile begins with a value type, whose first byte is the tag of a number.
  EXPECT_FALSE(bfc::looks_like_memory_dump(bytes_of(Message().add(1, Message().number(1, 1).number(2, 2)).bytes)));
  EXPECT_FALSE(bfc::looks_like_memory_dump({}));
}

TEST(MemoryDumpRecorded, chunks_add_up_to_the_allocators_own_figure) {
  const char* named = std::getenv("HBMSCOPE_DATA");
  const std::filesystem::path data = named != nullptr ? named : "../shared/data";
  std::size_t dumps = 0;
  std::error_code error;
  for (const char* folder : {"real_oom", "bfc/samples"})
    for (const auto& entry : std::filesystem::directory_iterator(data / folder, error)) {
      if (!entry.path().filename().string().ends_with(".memorydump.pb")) continue;
      SCOPED_TRACE(entry.path().string());
      ++dumps;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      EXPECT_TRUE(bfc::looks_like_memory_dump(bytes_of(bytes)));
      const auto dump = bfc::read_memory_dump(bytes_of(bytes), "dump");
      ASSERT_TRUE(dump);
      const Trace trace = bfc::trace_from_dump(*dump, "dump", bytes.size());
      EXPECT_EQ(trace.import.count_of("sums_differ"), 0);
      EXPECT_EQ(heap_of(trace).in_use_bytes, dump->in_use->bytes);
    }
  if (dumps == 0) GTEST_SKIP() << "no *.memorydump.pb in ../shared/data (HBMSCOPE_DATA names the folder)";
}

}  // namespace
}  // namespace hbmscope
