// Exports of traces where tests/trace/report_beside_python.py, which reads them back whole, does not reach: hostile
// names, marks and counters, sources without times or addresses, a full disk, a pass that is cancelled.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/write/perfetto.h"
#include "analysis/write/trace_csv.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

constexpr const char* hostile = "a\"b\\c,\nd\xff \"ts\":null";

TextSink into(std::string& text) {
  return [&text](std::string_view piece) {
    text += piece;
    return true;
  };
}

nlohmann::json perfetto_of(TraceBuilder& built) {
  std::string text;
  EXPECT_EQ(ExportEnd::whole, write_perfetto(built.trace, built.states_at(), {}, into(text)));
  return nlohmann::json::parse(text);
}

std::vector<nlohmann::json> events_with(const nlohmann::json& trace, const std::string& phase) {
  std::vector<nlohmann::json> found;
  for (const nlohmann::json& event : trace["traceEvents"])
    if (event["ph"] == phase) found.push_back(event);
  return found;
}

void mark(TraceBuilder& built, const std::string& name, std::uint8_t phase) {
  wire::MarkerRecord record;
  record.name = built.writer.define_string(name);
  record.phase = phase;
  built.writer.add(record, built.time_ns += 1500);
}

TEST(Perfetto, marks_counters_and_failures_with_any_name) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap(hostile, 0);
  mark(built, hostile, 1);
  built.alloc(heap, 0x1000, 100);
  mark(built, hostile, 2);
  mark(built, "note", 0);
  wire::CounterRecord counter;
  counter.name = built.writer.define_string("bytes_limit");
  counter.heap = heap;
  counter.value = -5;
  built.writer.add(counter, built.time_ns);
  wire::OutOfMemoryRecord failure;
  failure.asked = 1 << 20;
  failure.heap = heap;
  failure.stack = built.stack("main");
  failure.reason = built.writer.define_string(hostile);
  built.writer.add(failure, built.time_ns);
  const nlohmann::json trace = perfetto_of(built);
  const std::string shown = "a\"b\\c,\nd\xef\xbf\xbd \"ts\":null";
  ASSERT_EQ(1U, events_with(trace, "b").size());
  ASSERT_EQ(1U, events_with(trace, "e").size());
  const nlohmann::json begin = events_with(trace, "b")[0], end = events_with(trace, "e")[0];
  EXPECT_EQ(shown, begin["name"]);
  EXPECT_EQ(begin["id"], end["id"]);
  EXPECT_EQ(begin["cat"], end["cat"]);
  EXPECT_EQ(0, begin["ts"]);
  EXPECT_EQ(2.5, end["ts"]);
  const auto instants = events_with(trace, "i");
  ASSERT_EQ(2U, instants.size());
  EXPECT_EQ("note", instants[0]["name"]);
  EXPECT_EQ("Out of memory", instants[1]["name"]);
  EXPECT_EQ(shown, instants[1]["args"]["reason"]);
  EXPECT_EQ(nullptr, instants[1]["args"]["available_bytes"]);
  EXPECT_EQ("main /home/me/main.py:7", instants[1]["args"]["own_line"]);
  const auto counters = events_with(trace, "C");
  ASSERT_EQ(3U, counters.size()) << "nothing, 100 bytes, and the source's own";
  EXPECT_EQ(shown + " in use", counters[1]["name"]);
  EXPECT_EQ(100, counters[1]["args"]["bytes"]);
  EXPECT_EQ("bytes_limit of " + shown, counters[2]["name"]);
  EXPECT_EQ(-5, counters[2]["args"]["value"]);
}

TEST(Perfetto, without_times_the_number_of_the_event_stands_for_it) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", wire::heap_flag::has_regions);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    wire::AllocRecord record;
    record.address = i * 0x1000;
    record.size = 1;
    record.heap = heap;
    built.writer.alloc(record, 0);
  }
  const nlohmann::json trace = perfetto_of(built);
  EXPECT_NE(std::string::npos, trace["otherData"]["time"].get<std::string>().find("number of the event"));
  std::vector<std::int64_t> times;
  for (const nlohmann::json& point : events_with(trace, "C"))
    if (point["name"] == "GPU 0 in use") times.push_back(point["ts"]);
  EXPECT_EQ((std::vector<std::int64_t>{0, 1, 2, 3}), times);
}

TEST(TraceCsv, fields_are_quoted_and_what_is_not_known_is_empty) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("a,\"b\"", 0);
  built.live(heap, 0x7000, 8);
  wire::AllocRecord record;
  record.address = 0x1000;
  record.size = 16;
  record.heap = heap;
  record.tag = built.writer.define_string("two\r\nlines");
  built.writer.alloc(record, 500);
  built.writer.free(heap, 0x7000, 0, built.stack("main"), 700);
  built.writer.free(heap, 0x9000, 32, 0, 800);
  const auto states = built.states_at();
  std::string events, blocks;
  EXPECT_EQ(ExportEnd::whole, write_trace_csv(built.trace, states, TraceTable::events, into(events)));
  EXPECT_EQ(
      "0,0,500,0,alloc,\"a,\"\"b\"\"\",,16,,,0,0,,\"two\r\nlines\",,,\r\n"
      "0,1,700,200,free,\"a,\"\"b\"\"\",,8,8,,,0,,,main,/home/me/main.py,7\r\n"
      "0,2,800,300,free_at,\"a,\"\"b\"\"\",,32,,,,,,,,,\r\n",
      events.substr(events.find("\r\n") + 2));
  EXPECT_EQ(ExportEnd::whole, write_trace_csv(built.trace, states, TraceTable::blocks, into(blocks)));
  EXPECT_EQ(
      "0,,\"a,\"\"b\"\"\",,8,8,0,,,1,700,200,freed,,,,\r\n"
      "0,0,\"a,\"\"b\"\"\",,16,,0,500,0,,,,live,\"two\r\nlines\",,,\r\n",
      blocks.substr(blocks.find("\r\n") + 2));
}

TEST(TraceExport, a_sink_that_refuses_and_a_wish_to_stop_end_it) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  for (std::uint64_t i = 0; i < 150'000; ++i) built.alloc(heap, (i + 1) * 0x1000, 16);
  const auto states = built.states_at();
  const auto run_all = [&](const TextSink& sink, PassControl* control, ExportEnd expected) {
    EXPECT_EQ(expected, write_trace_csv(built.trace, states, TraceTable::events, sink, control));
    EXPECT_EQ(expected, write_trace_csv(built.trace, states, TraceTable::blocks, sink, control));
    EXPECT_EQ(expected, write_perfetto(built.trace, states, {}, sink, control));
  };
  int pieces = 0;
  run_all(
      [&](std::string_view) {
        ++pieces;
        return false;
      },
      nullptr, ExportEnd::refused);
  EXPECT_EQ(3, pieces) << "nothing is offered again";
  PassControl control;
  control.cancelled = true;
  std::string text;
  run_all(into(text), &control, ExportEnd::cancelled);
}

}  // namespace
}  // namespace hbmscope
