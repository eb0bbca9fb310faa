// Exports of Nsight Systems, written by hand with SQLite itself.
#include "analysis/read/nsys/read_nsys.h"

#include <cstdio>

#include <gtest/gtest.h>

#include "analysis/query/heap_rows.h"
#include "analysis/query/profile_view.h"
#include "analysis/read/source/read_source.h"
#include "tests/analysis/nsys_by_hand.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

using tests::database_of;
using tests::global_of;
using tests::nsys_schema;
using tests::NsysRow;

// From a file, or as text that is none: the two ways in which SQLite gets its bytes.
Result<Source> open(const std::string& bytes, bool is_file = false) {
  if (!is_file) return read_text_source(bytes, "a.sqlite");
  const std::string path = testing::TempDir() + "it's 100% a?b#c.sqlite";
  std::ofstream(path, std::ios::binary) << bytes;
  auto source = read_source(path, {});
  std::remove(path.c_str());
  return source;
}

HeapRow heap_named(const Source& source, const std::string& name) {
  for (const HeapRow& row : compute_heap_rows(*source.trace, source.states))
    if (row.name == name) return row;
  ADD_FAILURE() << name;
  return {};
}

std::int64_t total_bytes(const Source& source) {
  const auto view = make_view(source.profile, {});
  EXPECT_TRUE(view);
  return view->total.bytes;
}

std::string small_export() {
  return nsys_schema + NsysRow{.start = 100, .address = 0x7000, .bytes = 8 << 20, .correlation = 1}.insert() +
         NsysRow{.start = 200, .address = 0x900000, .bytes = 2 << 20, .correlation = 2}.insert() +
         NsysRow{.start = 150, .address = 0x10000, .bytes = 1 << 20, .kind = 1}.insert() +
         NsysRow{.start = 160, .address = 0x20000, .bytes = 4 << 20, .kind = 4}.insert() +
         NsysRow{.start = 50, .address = 0x1000, .bytes = 256, .kind = 5, .name = "table"}.insert() +
         NsysRow{.start = 300, .address = 0x7000, .bytes = 8 << 20, .is_free = true}.insert();
}

TEST(Nsys, device_memory_is_what_the_program_took_and_the_rest_is_apart) {
  const std::string bytes = database_of(small_export());
  for (const bool is_file : {false, true}) {
    const auto source = open(bytes, is_file);
    ASSERT_TRUE(source) << source.error().text();
    EXPECT_EQ(source->trace->format, "nsys");
    const HeapRow device = heap_named(*source, "GPU 0 memory");
    EXPECT_EQ(device.in_use_bytes, 2 * mib + 256);
    EXPECT_EQ(device.live_blocks, 2U);
    EXPECT_EQ(device.device, 0U);
    EXPECT_EQ(device.peak_in_use_bytes, 10 * mib + 256);
    EXPECT_EQ(heap_named(*source, "pinned host memory").in_use_bytes, mib);
    EXPECT_EQ(heap_named(*source, "managed memory").in_use_bytes, 4 * mib);
    EXPECT_EQ(total_bytes(*source), static_cast<std::int64_t>(2 * mib + 256));  // Of devices only.
    EXPECT_EQ(source->trace->import.count_of("memory_events"), 6);
    EXPECT_EQ(source->trace->import.worst(), Severity::info);
  }
}

TEST(Nsys, processes_are_streams_with_their_own_devices) {
  std::string rows = nsys_schema;
  for (const std::int64_t pid : {70'001, 70'002}) {
    rows += NsysRow{.start = pid, .pid = pid, .address = 0x7000, .bytes = pid}.insert();
    rows +=
        "INSERT INTO PROCESSES VALUES (" + std::to_string(global_of(pid)) + "," + std::to_string(pid) + ",'python3');";
    rows += "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (" + std::to_string(pid % 10) + ",0," + std::to_string(pid) +
            ",'1f2e" + std::to_string(pid) + "',132);";
  }
  rows += "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '');";
  const auto source = open(database_of(rows));
  ASSERT_TRUE(source) << source.error().text();
  ASSERT_EQ(source->trace->streams.size(), 2U);
  EXPECT_EQ(source->trace->streams[0].definitions().job_fact("process"), "70001");
  EXPECT_EQ(source->trace->streams[1].definitions().job_fact("command"), "python3");
  EXPECT_EQ(source->trace->streams[1].definitions().heap(1).uuid, "GPU-1f2e70002");
  EXPECT_EQ(source->trace->begun_ms, 1'700'000'000'000U);
  EXPECT_EQ(total_bytes(*source), 140'003);
}

TEST(Nsys, stacks_are_the_call_and_what_was_recorded_below_it) {
  const auto source = open(database_of(
      small_export() +
      "INSERT INTO StringIds VALUES (1,'cudaMalloc_v3020'),(2,'cuMemAlloc_v2'),(3,'make_weights'),(4,'main'),"
      "(5,'/app/train');"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (90,110,1," +
      std::to_string(global_of(7, 3)) + ",1,1,0,9),(190,210,0," + std::to_string(global_of(7, 3)) +
      ",2,2,0,NULL),(95,99,1," + std::to_string(global_of(8, 3)) +
      ",2,1,0,NULL);"
      "INSERT INTO CUDA_CALLCHAINS VALUES (9,4,5,0,0,1),(9,3,5,0,0,0);"));
  ASSERT_TRUE(source) << source.error().text();
  const Stream& stream = source->trace->streams.front();
  std::string found;
  const StreamState state = stream.state_at(stream.end_position() - 1);
  for (const LiveBlock& block : state.slots()) {
    if (!block.is_live() || block.stack == 0) continue;
    for (std::uint32_t stack = block.stack; stack != 0; stack = stream.definitions().stack(stack).parent)
      found += std::string(stream.definitions().text(
                   stream.definitions().frame(stream.definitions().stack(stack).frame).function)) +
               " ";
    found += "| ";
  }
  EXPECT_EQ(found, "cudaMalloc make_weights main | cuMemAlloc_v2 | ");
}

TEST(Nsys, calls_that_ran_out_of_memory_are_failures_and_ranges_are_markers) {
  const std::string thread = std::to_string(global_of(7, 3));
  const auto source =
      open(database_of(small_export() +
                       "INSERT INTO StringIds VALUES (1,'cudaMalloc_v3020'),(2,'cuMemAlloc_v2'),(3,'step');"
                       "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (220,260,1," +
                       thread + ",5,1,2,NULL),(230,250,0," + thread +
                       ",6,2,2,NULL);INSERT INTO NVTX_EVENTS VALUES (120,280,59,0,0,0,NULL," + thread + "," + thread +
                       ",3,0),(290,NULL,34,0,0,0,'done'," + thread + ",0,NULL,0);"));
  ASSERT_TRUE(source) << source.error().text();
  const Stream& stream = source->trace->streams.front();
  ASSERT_EQ(stream.failures().size(), 1U);  // The runtime's call and the driver's within it are one.
  EXPECT_EQ(stream.failures().front().time_ns, 220);
  std::string markers;
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  for (const wire::SharedBlock& block : stream.blocks()) {
    ASSERT_EQ(decoder.decode(*block, decoded), std::nullopt);
    for (const auto& marker : decoded.rows<wire::MarkerRecord>())
      markers += std::string(stream.definitions().text(marker.name)) + std::to_string(marker.phase) + " ";
  }
  EXPECT_EQ(markers, "step1 step2 done0 ");
}

TEST(Nsys, memory_pools_are_heaps_with_the_size_that_they_have) {
  const auto source = open(database_of(
      nsys_schema +
      NsysRow{.start = 1, .address = 0x7000, .bytes = 1 << 20, .pool = 0xabc0, .pool_bytes = 32 << 20}.insert() +
      NsysRow{.start = 2, .address = 0x9000000, .bytes = 4096}.insert()));
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ(heap_named(*source, "GPU 0 memory pool 0xabc0").in_use_bytes, mib);
  EXPECT_EQ(heap_named(*source, "GPU 0 memory").in_use_bytes, 4096U);
  EXPECT_EQ(total_bytes(*source), static_cast<std::int64_t>(mib + 4096));
}

TEST(Nsys, dirty_rows_are_counted) {
  const auto source = open(database_of(nsys_schema + NsysRow{.start = 1, .address = 0x7000, .bytes = 512}.insert() +
                                       NsysRow{.start = 2, .address = 0x7000, .bytes = 1024}.insert() +
                                       NsysRow{.start = 3, .address = 0x8000, .bytes = 1024, .is_free = true}.insert() +
                                       NsysRow{.start = 4, .address = 0x9000, .bytes = -1}.insert() +
                                       NsysRow{.start = 5, .address = 0xa000, .bytes = 7, .kind = 7}.insert() +
                                       NsysRow{.start = -5, .address = 0xb000, .bytes = 7}.insert()));
  ASSERT_TRUE(source) << source.error().text();
  const ImportStatistics& import = source->trace->import;
  EXPECT_EQ(import.count_of("missing_frees"), 1);
  EXPECT_EQ(import.count_of("unknown_frees"), 1);
  EXPECT_EQ(import.count_of("impossible_rows"), 2);
  EXPECT_EQ(import.count_of("unknown_kind"), 1);
  EXPECT_EQ(heap_named(*source, "GPU 0 memory").in_use_bytes, 1024U);
}

TEST(Nsys, an_older_version_has_fewer_columns_and_no_enumerations) {
  const auto source = open(database_of(
      "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INT, deviceId INT, address INT, bytes INT, memKind INT, "
      "memoryOperationType INT);INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (1, 3, 4096, 512, 2, 0);"));
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ(heap_named(*source, "GPU 3 memory").in_use_bytes, 512U);
}

TEST(Nsys, other_databases_are_named_for_what_they_are) {
  const auto expect = [](const std::string& statements, const std::string& words) {
    const auto source = open(database_of(statements));
    ASSERT_FALSE(source);
    EXPECT_TRUE(source.error().is_other_format);
    EXPECT_NE(source.error().text().find(words), std::string::npos) << source.error().text();
  };
  expect("CREATE TABLE t (a INT);", "this is an SQLite database, but not an export of Nsight Systems");
  expect("CREATE TABLE StringIds (id INT); CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);",
         "--cuda-memory-usage=true");
  // A view is not looked into.
  expect("CREATE VIEW CUDA_GPU_MEMORY_USAGE_EVENTS AS SELECT 1 AS start;", "this is an SQLite database");
  const auto missing = open(database_of("CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INT, bytes INT);"));
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().text().find("has no column address"), std::string::npos) << missing.error().text();
}

TEST(Nsys, a_cut_or_damaged_file_is_an_error_or_a_shorter_trace) {
  const std::string bytes = database_of(small_export());
  std::size_t errors = 0;
  for (std::size_t end = 16; end < bytes.size(); end += 509) {
    const auto source = open(bytes.substr(0, end));
    if (source) continue;
    ++errors;
    EXPECT_EQ(source.error().file, "a.sqlite");
  }
  EXPECT_GT(errors, 0U);
  for (std::size_t at = 16; at < bytes.size(); at += 97) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    static_cast<void>(open(damaged));
  }
}

}  // namespace
}  // namespace hbmscope
