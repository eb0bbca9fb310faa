// Logs of a few rows, and their oddities. Whole reports of longer logs are compared with Python in tests/trace.
#include "analysis/read/rmm/read_rmm.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/query/heap_rows.h"
#include "analysis/read/rmm/rmm_lines.h"
#include "analysis/trace/join_traces.h"
#include "analysis/trace/moment.h"
#include "tests/analysis/text_bytes.h"

namespace hbmscope {
namespace {

const std::string header = "Thread,Time,Action,Pointer,Size,Stream\n";
constexpr std::int64_t second_ns = 1'000'000'000;

bool looks(const std::string& text) {
  return looks_like_rmm(bytes_of(text));
}
Trace rmm_trace(const std::string& text) {
  auto trace = read_rmm(bytes_of(text), "log.csv");
  if (trace) return std::move(*trace);
  ADD_FAILURE() << trace.error().text();
  Trace none;
  none.streams.emplace_back();
  return none;
}
Trace read_rows(const std::string& rows) {
  return rmm_trace(header + rows);
}
const HeapState& heap_of(const Trace& trace) {
  return trace.streams.front().last_state().heap(1);
}
std::string example_of(const Trace& trace, std::string_view name) {
  for (const ImportStatistic& row : trace.import.rows())
    if (row.name == name) return row.example;
  return {};
}
// The time between the first and the last of rows with these times.
std::int64_t last_time_of(const std::vector<std::string>& times) {
  rmm::Clock clock;
  const std::int64_t first = clock.time_of_next_row(times.front());
  std::int64_t last = first;
  for (std::size_t i = 1; i < times.size(); ++i) last = clock.time_of_next_row(times[i]);
  return last - first;
}

TEST(RmmReader, sums_and_events_of_a_log) {
  const Trace trace = read_rows(
      "7,11:04:51.310412,allocate,0x7f0a2c000000,1048576,0x0\n"
      "8,11:04:51.310512,allocate,0x7f0a2c100000,1000,0x55d0\n"
      "7,11:04:52.310412,free,0x7f0a2c000000,1048576,0x0\n"
      "7,11:04:53.000000,allocate failure,(nil),68719476736,0x0\n");
  EXPECT_EQ("rmm", trace.format);
  EXPECT_EQ("RMM log", trace.producer);
  ASSERT_EQ(1U, trace.streams.size());
  const Stream& stream = trace.streams.front();
  EXPECT_EQ(4U, stream.counts().total);
  EXPECT_EQ(2U, stream.counts().alloc);
  EXPECT_EQ(1U, stream.counts().free);
  EXPECT_EQ(1U, stream.counts().out_of_memory);
  EXPECT_EQ(1000U, heap_of(trace).in_use_bytes);
  EXPECT_EQ(1000U, heap_of(trace).known_requested_bytes());
  EXPECT_EQ(1U, heap_of(trace).live_blocks);
  EXPECT_EQ(1049576U, stream.peak(1).in_use_bytes);
  EXPECT_EQ(2U, stream.peak(1).position);
  EXPECT_EQ(((11 * 60 + 4) * 60 + 51) * second_ns + 310'412'000, stream.first_time_ns());
  EXPECT_EQ(1'689'588'000, stream.last_time_ns() - stream.first_time_ns());
  ASSERT_EQ(1U, stream.failures().size());
  EXPECT_EQ(68719476736U, stream.failures().front().requested_bytes);
  EXPECT_EQ(std::nullopt, stream.failures().front().available_bytes);
  EXPECT_EQ(4, trace.import.count_of("events"));
  EXPECT_EQ(2, trace.import.count_of("threads"));
  EXPECT_EQ(Severity::notice, trace.import.worst());
}

TEST(RmmReader, heap_has_what_the_log_knows_and_no_more) {
  const Trace trace = read_rows("7,11:04:51.0,allocate,0x1000,10,0x0\n");
  const HeapInfo& heap = trace.streams.front().definitions().heap(1);
  EXPECT_EQ("RMM", heap.name);
  EXPECT_EQ("device", heap.memory_kind);
  EXPECT_EQ(wire::no_device, heap.device);
  EXPECT_EQ(wire::heap_flag::has_addresses | wire::heap_flag::has_requested | wire::heap_flag::sizes_are_requests,
            heap.flags);
  const HeapRow row = compute_heap_rows(trace, compute_states(trace, *find_moment(trace, "end"))).front();
  EXPECT_EQ(10U, row.requested_bytes) << "what was asked is all that the log tells";
  EXPECT_EQ(std::nullopt, row.internal_fragmentation) << "and not what blocks take";
  EXPECT_EQ(std::nullopt, heap_of(trace).space.free_bytes());
  EXPECT_EQ(std::nullopt, heap_of(trace).space.region_bytes());
  EXPECT_EQ(wire::block_flag::is_size_derived, trace.streams.front().last_state().slots().front().flags);
  EXPECT_EQ(1, trace.import.count_of("sizes_as_asked"));
}

TEST(RmmReader, device_of_a_log_stands_in_its_name) {
  const auto device_of = [](const std::string& name) {
    const auto trace = read_rmm(bytes_of(header), name);
    return trace->streams.front().definitions().heap(1);
  };
  EXPECT_EQ(1U, device_of("/tmp/job.dev1.csv").device);
  EXPECT_EQ("RMM on device 1", device_of("/tmp/job.dev1.csv").name);
  EXPECT_EQ(12U, device_of("job.dev12").device);
  for (const char* name : {"job.csv", "/a.dev1/job.csv", "job.device.csv", "job.dev.csv", "job.dev1x.csv",
                           "job.dev99999999999.csv", "job.dev-1.csv", "-"})
    EXPECT_EQ(wire::no_device, device_of(name).device) << name;
}

// Both record the time of day, so a time is the same in both.
TEST(RmmReader, logs_of_one_job_have_one_clock) {
  const auto read_one = [](const std::string& rows, const std::string& name) {
    return std::make_shared<const Trace>(std::move(*read_rmm(bytes_of(header + rows), name)));
  };
  const std::vector<std::shared_ptr<const Trace>> logs = {
      read_one("1,10:00:00.0,allocate,0x1000,1024,0x0\n1,10:00:01.0,allocate,0x9000,10,0x0\n", "x.dev0.csv"),
      read_one("1,10:00:00.5,allocate,0x1000,4096,0x0\n1,10:00:02.0,free,0x1000,4096,0x0\n", "x.dev1.csv")};
  const Trace job = join_traces(logs);
  EXPECT_EQ((std::vector<std::uint64_t>{2, 1}), find_moment(job, "1700ms")->positions);
  EXPECT_EQ((std::vector<std::uint64_t>{1, 0}), find_moment(job, "400ms")->positions);
  EXPECT_EQ((std::vector<std::uint64_t>{2, 2}), find_moment(job, "2s")->positions);
}

TEST(RmmReader, device_streams_are_small_numbers) {
  const Trace trace = read_rows(
      "7,11:04:51.0,allocate,0x1000,10,0x55d0\n"
      "7,11:04:51.0,allocate,0x2000,10,0x2\n"
      "7,11:04:51.0,allocate,0x3000,10,0\n"
      "7,11:04:51.0,allocate,0x4000,10,0x55d0\n");
  std::vector<std::uint32_t> streams;
  for (const LiveBlock& block : trace.streams.front().last_state().slots()) streams.push_back(block.stream);
  EXPECT_EQ((std::vector<std::uint32_t>{1, 2, 0, 1}), streams);
}

TEST(RmmReader, header_may_have_spaces_quotes_a_byte_order_mark_and_crlf) {
  EXPECT_TRUE(looks(header));
  EXPECT_TRUE(looks("Thread,Time,Action,Pointer,Size,Stream"));
  EXPECT_TRUE(looks("\xef\xbb\xbfThread, Time, Action, Pointer, Size, Stream \r\n1"));
  EXPECT_TRUE(looks("\"Thread\",\"Time\",\"Action\",\"Pointer\",\"Size\",\"Stream\"\n"));
  EXPECT_FALSE(looks(""));
  EXPECT_FALSE(looks("\n"));
  EXPECT_FALSE(looks("Thread,Time,Action,Pointer,Size"));
  EXPECT_FALSE(looks("Thread,Time,Action,Pointer,Size,Stream,More\n"));
  EXPECT_FALSE(looks("a\nThread,Time,Action,Pointer,Size,Stream\n"));
}

TEST(RmmReader, rows_may_have_spaces_and_crlf) {
  const Trace trace = rmm_trace(
      "\xef\xbb\xbfThread,Time,Action,Pointer,Size,Stream\r\n"
      "7, 11:04:51.1, allocate, 0x1000, 10, 0x0\r\n\r\n"
      "7,11:04:51.1,deallocate,1000,10,(nil)\r\n");
  EXPECT_EQ(2U, trace.streams.front().counts().total);
  EXPECT_EQ(0U, heap_of(trace).live_blocks);
  EXPECT_EQ(Severity::notice, trace.import.worst());
}

TEST(RmmReader, another_file_is_refused_with_what_to_do) {
  const auto trace = read_rmm(bytes_of("a,b\n1,2\n"), "x.csv");
  ASSERT_FALSE(trace);
  EXPECT_EQ("x.csv", trace.error().file);
  EXPECT_FALSE(trace.error().remedy.empty());
}

TEST(RmmReader, header_alone_is_a_trace_without_events) {
  for (const std::string& text : {header, header.substr(0, header.size() - 1)}) {
    const Trace trace = rmm_trace(text);
    EXPECT_EQ(0U, trace.streams.front().counts().total);
    EXPECT_EQ("RMM", trace.streams.front().definitions().heap(1).name);
    EXPECT_TRUE(find_moment(trace, "end"));
    EXPECT_EQ(Severity::info, trace.import.worst());
  }
}

TEST(RmmReader, bad_rows_are_counted_with_their_first_line) {
  const Trace trace = read_rows(
      "7,11:04:51.0,allocate,0x1000,10,0x0\n"
      "7,11:04:51.0,allocate,0x2000,10\n"
      "7,11:04:51.0,allocate,0x2000,10,0x0,1\n"
      "warning: something else\n"
      "7,11:04:51.0,allocate,0x20g0,10,0x0\n"
      "7,11:04:51.0,allocate,0x2000,-1,0x0\n"
      "7,11:04:51.0,allocate,0x2000,99999999999999999999,0x0\n"
      "x,11:04:51.0,allocate,0x2000,10,0x0\n"
      "7,11:04:51.0,reallocate,0x2000,10,0x0\n"
      "7,11:04:51.0,allocate,0x3000,5,0x0\n");
  EXPECT_EQ(2U, trace.streams.front().counts().total);
  EXPECT_EQ(15U, heap_of(trace).in_use_bytes);
  EXPECT_EQ(3, trace.import.count_of("bad_fields"));
  EXPECT_EQ("line 3", example_of(trace, "bad_fields"));
  EXPECT_EQ(4, trace.import.count_of("bad_numbers"));
  EXPECT_EQ("line 6", example_of(trace, "bad_numbers"));
  EXPECT_EQ(1, trace.import.count_of("unknown_actions"));
  EXPECT_EQ("line 10", example_of(trace, "unknown_actions"));
}

TEST(RmmReader, log_may_be_cut_off_after_any_byte) {
  const std::string whole = header +
                            "7,11:04:51.310412,allocate,0x7f0a2c000000,1048576,0x55d0\n"
                            "8,11:04:51.310512,allocate,0x7f0a2c100000,1000,0x55d0\n";
  const std::size_t second = whole.find("8,11");
  for (std::size_t bytes = second + 1; bytes < whole.size(); ++bytes) {
    const Trace trace = rmm_trace(whole.substr(0, bytes));
    const std::uint64_t events = trace.streams.front().counts().total;
    const std::int64_t cut_off = trace.import.count_of("cut_off");
    EXPECT_EQ(2U, events + static_cast<std::uint64_t>(cut_off)) << bytes;
    // A row whose last number was truncated can't be distinguished from a complete one; everything that counts is in
    // it.
    if (events == 2) {
      EXPECT_EQ(1049576U, heap_of(trace).in_use_bytes);
    }
  }
  EXPECT_EQ("line 3", example_of(rmm_trace(whole.substr(0, second + 20)), "cut_off"));
}

TEST(RmmReader, unknown_free_is_counted) {
  const Trace trace = read_rows("7,11:04:51.0,free,0x1000,10,0x0\n");
  EXPECT_EQ(1U, trace.streams.front().counts().free);
  EXPECT_EQ(1, trace.import.count_of("unknown_frees"));
  EXPECT_EQ(0U, heap_of(trace).in_use_bytes);
}

TEST(RmmReader, address_given_out_again_was_freed_before) {
  const Trace trace = read_rows(
      "7,11:04:51.0,allocate,0x1000,10,0x0\n"
      "7,11:04:51.0,allocate,0x1000,30,0x0\n");
  EXPECT_EQ(1, trace.import.count_of("missing_frees"));
  EXPECT_EQ("line 3", example_of(trace, "missing_frees"));
  EXPECT_EQ(30U, heap_of(trace).in_use_bytes);
  EXPECT_EQ(1U, heap_of(trace).live_blocks);
  EXPECT_EQ(30U, trace.streams.front().peak(1).in_use_bytes);
}

TEST(RmmReader, free_of_another_size_is_counted_and_frees_the_block) {
  const Trace trace = read_rows(
      "7,11:04:51.0,allocate,0x1000,10,0x0\n"
      "7,11:04:51.0,free,0x1000,20,0x0\n");
  EXPECT_EQ(1, trace.import.count_of("other_size_freed"));
  EXPECT_EQ(0U, heap_of(trace).in_use_bytes);
}

TEST(RmmReader, rows_without_an_address_are_no_blocks) {
  const Trace trace = read_rows(
      "7,11:04:51.0,allocate,(nil),0,0x0\n"
      "7,11:04:51.0,allocate,0,0,0x0\n"
      "7,11:04:51.0,free,0x0,0,0x0\n");
  EXPECT_EQ(3, trace.import.count_of("null_pointers"));
  EXPECT_EQ(0U, trace.streams.front().counts().total);
}

TEST(RmmReader, sizes_that_no_memory_has_are_left_out) {
  const Trace trace = read_rows(
      "7,11:04:51.0,allocate,0x1000,18446744073709551615,0x0\n"
      "7,11:04:51.0,allocate,0xfffffffffffffff0,32,0x0\n"
      "7,11:04:51.0,allocate,0x1000,9223372036854775807,0x0\n"
      "7,11:04:51.0,allocate,0x8000000000001000,1,0x0\n"
      "7,11:04:51.0,free,0x1000,9223372036854775807,0x0\n"
      "7,11:04:51.0,allocate,0x8000000000001000,1,0x0\n");
  EXPECT_EQ(3, trace.import.count_of("impossible_sizes"));
  EXPECT_EQ(1U, heap_of(trace).in_use_bytes);
}

TEST(RmmReader, several_logs_in_one_file_are_noticed) {
  const Trace trace = read_rows("7,11:04:51.0,allocate,0x1000,10,0x0\n" + header);
  EXPECT_EQ(1, trace.import.count_of("several_logs"));
  EXPECT_EQ("line 3", example_of(trace, "several_logs"));
}

TEST(RmmReader, can_be_cancelled) {
  std::string text = header;
  for (int i = 0; i < 50'000; ++i) text += "7,11:04:51.0,free,0x1000,10,0x0\n";
  ReadControl control;
  control.cancelled = true;
  EXPECT_FALSE(read_rmm(bytes_of(text), "log.csv", &control));
  control.cancelled = false;
  EXPECT_TRUE(read_rmm(bytes_of(text), "log.csv", &control));
  EXPECT_EQ(text.size(), control.done_bytes);
}

TEST(RmmReader, odd_times_take_the_time_of_the_row_above) {
  const Trace trace = read_rows(
      "7,11:04:51.0,allocate,0x1000,10,0x0\n"
      "7,11:04:53.5,allocate,0x2000,10,0x0\n"
      "7,,allocate,0x3000,10,0x0\n"
      "7,noon,allocate,0x4000,10,0x0\n");
  EXPECT_EQ(2, trace.import.count_of("odd_times"));
  EXPECT_EQ("line 4", example_of(trace, "odd_times"));
  EXPECT_EQ(40U, heap_of(trace).in_use_bytes);
  const Stream& stream = trace.streams.front();
  EXPECT_EQ(5 * second_ns / 2, stream.last_time_ns() - stream.first_time_ns());
  // There is no row above it: it has the first time of the log.
  const Trace first = read_rows("7,noon,allocate,0x1000,10,0x0\n7,11:04:53.5,allocate,0x2000,10,0x0\n");
  EXPECT_EQ(first.streams.front().first_time_ns(), first.streams.front().last_time_ns());
}

TEST(RmmClock, reads_times_of_day_and_seconds_since_1970) {
  EXPECT_EQ(second_ns / 1000, last_time_of({"11:04:51.310412", "11:04:51.311412"}));
  EXPECT_EQ(1000, last_time_of({"11:04:51:310412", "11:04:51:310413"}));
  EXPECT_EQ(second_ns * 3600, last_time_of({"9:00:00", "10:00:00"}));
  EXPECT_EQ(111'111'000, last_time_of({"1634567890.123456", "1634567890.234567"}));
  EXPECT_EQ(second_ns, last_time_of({"1634567890", "1634567891"}));
  EXPECT_EQ(1, last_time_of({"00:00:00.000000000", "00:00:00.0000000019"}));
}

TEST(RmmClock, refuses_what_is_no_time) {
  for (const char* text : {"", ":", "24:00:00", "11:60:00", "11:04:61", "11:04", "11:04:5x", "11:04:51,3", "111:04:51",
                           "11:04:51.3x", "x", "-1", "1.x", "9000000000", "99999999999999999999", "1e5"})
    EXPECT_FALSE(rmm::find_time(text)) << text;
}

TEST(RmmClock, midnight_begins_another_day) {
  EXPECT_EQ(2 * second_ns, last_time_of({"23:59:59", "00:00:01"}));
  EXPECT_EQ(second_ns * 3600 * 46, last_time_of({"12:00:00", "23:00:00", "1:00:00", "23:00:00", "10:00:00"}));
}

TEST(RmmClock, thread_that_waited_over_midnight_does_not_add_a_day) {
  rmm::Clock clock;
  const std::int64_t first = clock.time_of_next_row("23:59:58");
  EXPECT_EQ(2 * second_ns, clock.time_of_next_row("00:00:00") - first);
  EXPECT_EQ(2 * second_ns, clock.time_of_next_row("23:59:59") - first);
  EXPECT_EQ(3 * second_ns, clock.time_of_next_row("00:00:01") - first);
  EXPECT_EQ(1, clock.midnights());
  EXPECT_EQ(1U, clock.backward_times());
}

TEST(RmmClock, does_not_run_over) {
  rmm::Clock clock;
  for (int i = 0; i < 300'000; ++i) clock.time_of_next_row(i % 2 == 0 ? "13:00:00" : "0:30:00");
  EXPECT_LT(0U, clock.unknown_times());
  EXPECT_LT(0, clock.time_of_next_row("23:59:59"));
}

// Spark's RAPIDS plugin writes rows without the line of column names; a log that was cut begins inside of a row.
TEST(RmmReader, rows_without_column_names_are_a_log_too) {
  const std::string rows =
      "1979,14:43:44:235126,allocate,0x7f0a2c000000,1048576,0x2\n"
      "1979,14:43:44:235200,allocate,0x7f0a2c100000,256,0x2\n"
      "1979,14:43:45:000000,free,0x7f0a2c000000,1048576,0x2\n";
  EXPECT_TRUE(looks(rows));
  EXPECT_TRUE(looks("c000000,1048576,0x2\n" + rows));
  EXPECT_FALSE(looks("1,2,3,4,5,6\n"));
  EXPECT_FALSE(looks("1979,noon,allocate,0x7f0a2c000000,1048576,0x2\n"));
  const Trace whole = rmm_trace(rows), cut = rmm_trace("c000000,1048576,0x2\n" + rows);
  for (const Trace* trace : {&whole, &cut}) {
    EXPECT_EQ(3U, trace->streams.front().end_position());
    EXPECT_EQ(256U, heap_of(*trace).in_use_bytes);
  }
  EXPECT_EQ(0, whole.import.count_of("bad_fields"));
  EXPECT_EQ(1, cut.import.count_of("bad_fields"));
}

TEST(RmmReader, debug_log_has_requests_blocks_and_failures) {
  const std::string first = "[  9259][13:52:25:387699][info  ] ----- RMM LOG BEGIN [PTDS DISABLED] -----\n";
  const std::string rows =
      "[  9259][13:52:25:390211][trace ] [A][stream 0x2][1000B]\n"
      "[  9260][13:52:25:390212][trace ] [A][stream 0x3][300B]\n"
      "[  9259][13:52:25:390214][trace ] [A][stream 0x2][1024B][0x7f0a2c000000]\n"
      "[  9260][13:52:25:390215][trace ] [A][stream 0x3][512B][0x7f0a2c000400]\n"
      "other output of the job\n"
      "[  9259][13:52:25:391007][trace ] [D][stream 0x2][1024B][0x7f0a2c000000]\n"
      "[  9259][13:52:25:395155][error ] [A][Stream 0x2][Upstream 15162789376B][FAILURE maximum pool size exceeded]\n";
  EXPECT_TRUE(looks(first));
  EXPECT_TRUE(looks(rows));
  EXPECT_FALSE(looks("[  9259][13:52:25:387699][info  ] hello\n"));
  const Trace trace = rmm_trace(first + rows);
  EXPECT_EQ("RMM debug log", trace.producer);
  EXPECT_EQ(4U, trace.streams.front().end_position());
  EXPECT_EQ(512U, heap_of(trace).in_use_bytes);
  EXPECT_EQ(300U, heap_of(trace).known_requested_bytes());
  EXPECT_EQ(1, trace.import.count_of("other_lines"));
  EXPECT_EQ("line 6", example_of(trace, "other_lines"));
  EXPECT_EQ(2, trace.import.count_of("threads"));
  EXPECT_EQ(0, trace.import.count_of("errors_only"));
  // As most builds write it: errors alone.
  const Trace failures = rmm_trace(first + rows.substr(rows.rfind("[  9259]")));
  EXPECT_EQ(1U, failures.streams.front().end_position());
  EXPECT_EQ(1, failures.import.count_of("errors_only"));
  const auto found = compute_failure_rows(failures);
  ASSERT_EQ(1U, found.size());
  EXPECT_EQ("maximum pool size exceeded", found[0].reason);
  EXPECT_EQ(std::nullopt, found[0].used_bytes);
}

}  // namespace
}  // namespace hbmscope
