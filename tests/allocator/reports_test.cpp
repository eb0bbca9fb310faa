// XLA's reports in cases for which no report was recorded: the gap, holes of the wanted bin, growth.
#include "allocator/reference/xla_gpu/oom_log.h"
#include "tests/allocator/report_watcher.h"

namespace hbmscope::allocator {
namespace {

ReportWatcher reports_of(const std::string& text) {
  const RequestStream stream = stream_of(text);
  return play_with_reports(stream, version_of(stream.config));
}

void expect_line(const std::string& log, const std::string& line) {
  EXPECT_NE(log.find(line + "\n"), std::string::npos) << "no line: " << line << "\nin:\n" << log;
}

TEST(Reports, sizes_are_cut_off_and_not_rounded_on_the_way) {
  EXPECT_EQ(xla_human_bytes(0), "0B");
  EXPECT_EQ(xla_human_bytes(1023), "1023B");
  EXPECT_EQ(xla_human_bytes(1024), "1.0KiB");
  EXPECT_EQ(xla_human_bytes(40000000), "38.15MiB");
  EXPECT_EQ(xla_human_bytes(1048575), "1024.0KiB");
  EXPECT_EQ(xla_human_bytes(64424509440), "60.00GiB");
}

TEST(Reports, of_a_pool_with_a_gap) {
  const ReportWatcher reports = reports_of(R"({"config":{"total_bytes":67108864,"spatial":1}}
["a",1,1048576]
["a",2,1048576]
["a",3,1048576]
["a",4,2097152,{"end":"u"}]
["f",2]
["a",5,134217728]
)");
  expect_line(
      reports.log,
      "I bfc_allocator.cc:1475] Allocator memory summary: rounded request 128.00MiB, total free in pool "
      "60.00MiB, largest free chunk usable by lower end 59.00MiB, unallocated bytes 0B, pool size 64.00MiB, pool "
      "limit 64.00MiB");
  expect_line(reports.log,
              "I bfc_allocator.cc:1486] Spatial partitioning summary for lower end: central gap 59.00MiB, largest "
              "same-end binned free chunk 1.00MiB, largest binned free chunk from any end 1.00MiB. The central gap is "
              "shared by lower/upper allocations and is not inserted into a bin.");
  // Three blocks and a hole with their owners; the gap is in no bin.
  EXPECT_NE(reports.log.find("tag central_gap next"), std::string::npos);
  EXPECT_NE(reports.log.find("tag upper next 18446744073709551615"), std::string::npos);
  expect_line(
      reports.log,
      "I bfc_allocator.cc:1390] Bin (33554432): \tTotal Chunks: 0, Chunks in use: 0. 0B allocated for chunks. 0B "
      "in use in bin. 0B client-requested in use in bin.");
}

TEST(Reports, of_the_upper_end) {
  const ReportWatcher reports = reports_of(R"({"config":{"total_bytes":1048576,"spatial":1}}
["a",1,134217728,{"end":"u"}]
)");
  EXPECT_NE(reports.log.find("(rounded to 134217728) from the upper end requested by op"), std::string::npos);
  EXPECT_NE(reports.log.find("usable by upper end"), std::string::npos);
}

TEST(Reports, of_a_pool_that_grows_and_of_chunks_in_the_wanted_bin) {
  const ReportWatcher reports = reports_of(R"({"config":{"total_bytes":4194304,"allow_growth":1}}
["a",1,2097152]
["a",2,1048576]
["a",3,1048576]
["f",2]
["a",4,1500000]
)");
  expect_line(reports.log,
              "I bfc_allocator.cc:1412]   Size: 1.00MiB | Requested Size: 1.00MiB | in_use: 0 | bin_num: 12, next:   "
              "Size: 1.00MiB | Requested Size: 1.00MiB | in_use: 1 | bin_num: -1");
  EXPECT_NE(reports.log.find("] Next region of size 2097152"), std::string::npos);
  EXPECT_NE(reports.log.find("(growth enabled)."), std::string::npos);
}

TEST(Reports, before_a_first_region) {
  const ReportWatcher reports = reports_of(R"({"config":{"total_bytes":1048576,"device_bytes":256}}
["a",1,1048576]
)");
  EXPECT_NE(reports.log.find("<allocator contains no memory>"), std::string::npos);
  // 0 / 0, with the sign that it has there.
  EXPECT_EQ(reports.dump.substr(reports.dump.size() - 5), std::string("\x2d\x00\x00\xc0\xff", 5));
}

TEST(Reports, trace_events_of_a_fragmented_pool) {
  const ReportWatcher reports = reports_of(R"({"config":{"total_bytes":3072}}
["a",1,1000]
["a",2,256]
["f",1]
)");
  EXPECT_NE(reports.trace.find("MemoryDeallocation#allocator_name=GPU_0_bfc,bytes_reserved=0,bytes_allocated=256,bytes_"
                               "available=2816,fragmentation=0.363636,peak_bytes_in_use=1280,requested_bytes=1000,"
                               "allocation_bytes=1024,addr=17592186044416,"),
            std::string::npos)
      << reports.trace;
}

}  // namespace
}  // namespace hbmscope::allocator
