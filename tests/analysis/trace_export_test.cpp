// Exports of traces where tests/trace/report_vs_python.py, which reads them back whole, does not reach: hostile
// names, marks and counters, sources without times or addresses, a full disk, a pass that is cancelled.
#include <gtest/gtest.h>

#include <map>

#include <nlohmann/json.hpp>

#include "analysis/trace/common_zero.h"
#include "analysis/write/perfetto.h"
#include "analysis/write/trace_table.h"
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
  failure.requested = 1 << 20;
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

// One stream with an allocation at that time on its own clock.
void add_stream(Trace& trace, std::int64_t time_ns, const std::vector<ClockReading>& clocks, std::int64_t next_ns) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  for (const ClockReading& reading : clocks) {
    wire::ClockRecord record;
    record.realtime_ns = reading.realtime_ns;
    record.tsc = reading.tsc;
    built.writer.add(record, reading.time_ns);
  }
  std::uint64_t address = 0;
  for (const std::int64_t at : {time_ns, next_ns}) {
    wire::AllocRecord record;
    record.address = address += 0x1000;
    record.size = 16;
    record.heap = heap;
    built.writer.alloc(record, at);
  }
  built.writer.flush();
  trace.producer = "Test";
  trace.streams.push_back(std::move(built.trace.streams.front()));
}

// "process name: times of its counter points in microseconds", a line each.
std::string points_of(const Trace& trace) {
  const auto moment = find_moment(trace, "end");
  std::string text;
  EXPECT_EQ(ExportEnd::whole, write_perfetto(trace, compute_states(trace, *moment), {}, into(text)));
  const nlohmann::json json = nlohmann::json::parse(text);
  std::string lines;
  for (const nlohmann::json& process : events_with(json, "M")) {
    lines += process["args"]["name"].get<std::string>() + ":";
    for (const nlohmann::json& point : events_with(json, "C"))
      if (point["pid"] == process["pid"] && point["args"]["bytes"] != 0) lines += " " + point["ts"].dump();
    lines += "\n";
  }
  lines += json["otherData"]["time"].get<std::string>() + "\n";
  for (const nlohmann::json& stream : json["otherData"]["streams"])
    lines += stream["stream"].dump() + " " + stream["time"].get<std::string>() + "\n";
  return lines;
}

TEST(Perfetto, streams_of_other_clocks_are_brought_on_one_axis) {
  Trace trace;
  const std::uint64_t day = 1'795'267'211'000'000'000;
  add_stream(trace, 7'000'000, {{5'000'000, day, 0}}, 8'000'000);        // 2 and 3 ms after that instant.
  add_stream(trace, 901'000'000, {{900'000'000, day, 0}}, 904'000'000);  // 1 and 4 ms.
  // No time of day, but a counter at half the speed: with the first stream nothing, with the fourth all in common.
  add_stream(trace, 100'000, {{0, 0, 3000}, {1'000'000, 0, 6000}}, 200'000);
  add_stream(trace, 50, {{0, day + 10'000'000, 3000}, {500'000, day + 10'500'000, 6000}}, 250'000);
  EXPECT_EQ(
      "Test, stream 0: 1000.0 2000.0\n"
      "Test, stream 1: 0.0 3000.0\n"
      "Test, stream 2: 9050.0 9100.0\n"
      "Test, stream 3: 9000.05 9250.0\n"
      "microseconds since the first event of all\n"
      "0 on the axis of all\n1 on the axis of all\n2 on the axis of all\n3 on the axis of all\n",
      points_of(trace));
}

TEST(CommonZero, a_time_is_one_instant_in_all_streams_whose_clocks_are_related) {
  Trace trace;
  const std::uint64_t day = 1'795'267'211'000'000'000;
  add_stream(trace, 7'000'000, {{5'000'000, day, 0}}, 8'000'000);        // 2 and 3 ms after that instant.
  add_stream(trace, 901'000'000, {{900'000'000, day, 0}}, 904'000'000);  // 1 and 4 ms.
  add_stream(trace, 50'000'000'000, {}, 50'003'000'000);                 // Related to none.
  share_zero(trace);
  EXPECT_EQ(1'000'000, trace.streams[0].since_start_ns(7'000'000));
  EXPECT_EQ(0, trace.streams[1].since_start_ns(901'000'000));
  EXPECT_EQ(0, trace.streams[2].since_start_ns(50'000'000'000));
  const auto peak = find_moment(trace, 0, 2);  // 3 ms after the instant, 2 after the first event of all.
  ASSERT_TRUE(peak);
  EXPECT_EQ(2'000'000, peak->since_start_ns);
  EXPECT_EQ(1U, peak->positions[1]) << "the other stream's second event is a millisecond later";
  const auto typed = find_moment(trace, "2ms");
  ASSERT_TRUE(typed);
  EXPECT_EQ((std::vector<std::uint64_t>{2, 1}), (std::vector<std::uint64_t>{typed->positions[0], typed->positions[1]}));
}

TEST(CommonZero, streams_without_clock_records_share_one_if_their_times_overlap) {
  Trace trace;
  add_stream(trace, 5'000, {}, 9'000);
  add_stream(trace, 6'000, {}, 8'000);
  share_zero(trace);
  EXPECT_EQ(1'000, trace.streams[1].since_start_ns(6'000));
}

TEST(Perfetto, a_stream_whose_clock_nobody_knows_has_an_axis_of_its_own_and_says_so) {
  Trace trace;
  add_stream(trace, 7'000'000, {{5'000'000, 1'795'267'211'000'000'000, 0}}, 8'000'000);
  add_stream(trace, 901'000'000, {}, 904'000'000);
  add_stream(trace, 3'000, {{0, 0, 77}}, 5'000);
  add_stream(trace, 8'500'000, {{8'000'000, 1'795'267'211'000'000'000, 0}}, 9'000'000);
  add_stream(trace, 0, {}, 0);
  EXPECT_EQ(
      "Test, stream 0: 1500.0 2500.0\n"
      "Test, stream 1 (own clock): 0.0 3000.0\n"
      "Test, stream 2 (own clock): 0.0 2.0\n"
      "Test, stream 3: 0.0 500.0\n"
      "Test, stream 4 (no times): 1 2\n"
      "microseconds since the first event of all; not of streams that say otherwise\n"
      "0 on the axis of all\n"
      "1 on its own clock, since its own first event: no clock record relates it to the others\n"
      "2 on its own clock, since its own first event: no clock record relates it to the others\n"
      "3 on the axis of all\n"
      "4 number of the event: the source has no times\n",
      points_of(trace));
  // A single stream needs no other clock.
  Trace single;
  add_stream(single, 901'000'000, {}, 904'000'000);
  EXPECT_EQ("Test: 0.0 3000.0\nmicroseconds since the first event\n0 on the axis of all\n", points_of(single));
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
      "0,0,500,0,alloc,\"a,\"\"b\"\"\",,16,,,0,0,,\"two\r\nlines\",,,,,,,,\r\n"
      "0,1,700,200,free,\"a,\"\"b\"\"\",,8,8,,,0,,,main,/home/me/main.py,7,,,,,\r\n"
      "0,2,800,300,free_at,\"a,\"\"b\"\"\",,32,,,,,,,,,,,,,,\r\n",
      events.substr(events.find("\r\n") + 2));
  EXPECT_EQ(ExportEnd::whole, write_trace_csv(built.trace, states, TraceTable::blocks, into(blocks)));
  EXPECT_EQ(
      "0,,\"a,\"\"b\"\"\",,8,8,0,,,1,700,200,freed,,,,,block,\r\n"
      "0,0,\"a,\"\"b\"\"\",,16,,0,500,0,,,,live,\"two\r\nlines\",,,,block,\r\n",
      blocks.substr(blocks.find("\r\n") + 2));
  // As JSON: the same, without unknown values.
  std::string json;
  EXPECT_EQ(ExportEnd::whole, write_trace_json(built.trace, states, TraceTable::events, into(json)));
  EXPECT_EQ(
      "{\"schema\":1,\"events\":[\n"
      "{\"stream\":0,\"event\":0,\"time_ns\":500,\"since_start_ns\":0,\"kind\":\"alloc\",\"heap\":\"a,\\\"b\\\"\","
      "\"size_bytes\":16,\"allocation_event\":0,\"device_stream\":0,\"text\":\"two\\r\\nlines\"},\n"
      "{\"stream\":0,\"event\":1,\"time_ns\":700,\"since_start_ns\":200,\"kind\":\"free\",\"heap\":\"a,\\\"b\\\"\","
      "\"size_bytes\":8,\"requested_bytes\":8,\"device_stream\":0,\"own_function\":\"main\","
      "\"own_file\":\"/home/me/main.py\",\"own_line\":7},\n"
      "{\"stream\":0,\"event\":2,\"time_ns\":800,\"since_start_ns\":300,\"kind\":\"free_at\",\"heap\":\"a,\\\"b\\\"\","
      "\"size_bytes\":32}\n]}\n",
      json);
}

// Keyed by the header line. Fails for rows with another number of fields.
std::vector<std::map<std::string, std::string>> rows_of(TraceBuilder& built, TraceTable table) {
  std::string text;
  EXPECT_EQ(ExportEnd::whole, write_trace_csv(built.trace, built.states_at(), table, into(text)));
  const auto split = [](const std::string& line, const std::string& by) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + by.size())
      parts.push_back(line.substr(begin, (end = line.find(by, begin)) - begin));
    return parts;
  };
  std::vector<std::string> lines = split(text, "\r\n");
  const std::vector<std::string> names = split(lines.front(), ",");
  std::vector<std::map<std::string, std::string>> rows;
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    const std::vector<std::string> fields = split(lines[i], ",");
    EXPECT_EQ(names.size(), fields.size()) << lines[i];
    for (std::size_t at = 0; at < fields.size(); ++at)
      (at == 0 ? rows.emplace_back() : rows.back())[names[at]] = fields[at];
  }
  return rows;
}

TEST(TraceCsv, a_free_that_no_source_recorded_says_so) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("pool", 0);
  built.alloc(heap, 0x1000, 100, built.stack("main"));
  built.alloc(heap, 0x1000, 50);
  built.free(heap, 0x1000);
  const auto rows = rows_of(built, TraceTable::events);
  ASSERT_EQ(4U, rows.size());
  EXPECT_EQ("free_derived", rows[1].at("kind"));
  EXPECT_EQ("", rows[1].at("own_function"));
  EXPECT_EQ("100", rows[1].at("size_bytes"));
  EXPECT_EQ("free", rows[3].at("kind"));
}

// Nothing reported the missing block, but event numbers reveal it.
TEST(TraceCsv, events_of_a_missing_block_are_a_row) {
  std::vector<wire::SharedBlock> blocks;
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { blocks.push_back(std::move(block)); });
  wire::AllocRecord block;
  block.heap = writer.define_heap({}, "pool", "device");
  for (std::int64_t i = 1; i <= 15; ++i) {
    block.address += 4096;
    writer.alloc(block, i * 1000);
    if (i % 5 == 0) writer.flush();
  }
  TraceBuilder built;
  for (const std::size_t number : {0, 2}) EXPECT_EQ(std::nullopt, built.trace.streams[0].append(blocks[number]));
  const auto rows = rows_of(built, TraceTable::events);
  ASSERT_EQ(11U, rows.size());
  EXPECT_EQ("loss", rows[5].at("kind"));
  EXPECT_EQ("", rows[5].at("event"));
  EXPECT_EQ("5", rows[5].at("value"));
  EXPECT_EQ("11000", rows[5].at("time_ns"));
  EXPECT_EQ("5000", rows[5].at("lost_since_ns"));
  EXPECT_EQ("10", rows[6].at("event"));
  built.trace.streams[0].note_written(20, 4);
  const auto cut = rows_of(built, TraceTable::events);
  ASSERT_EQ(12U, cut.size());
  EXPECT_EQ("loss", cut[11].at("kind"));
  EXPECT_EQ("5", cut[11].at("value"));
}

TEST(TraceCsv, blocks_that_go_with_their_heap_and_those_under_a_region_that_goes) {
  TraceBuilder built;
  const std::uint32_t arena = built.heap("arena", wire::heap_flag::has_regions), other = built.heap("other", 0);
  built.live(arena, 0x1000, 1);
  built.grow(arena, 0x10000, 0x10000);  // 0
  built.alloc(arena, 0x10000, 0x100);   // 1
  built.alloc(other, 0x50000, 0x200);   // 2
  built.alloc(arena, 0x11000, 0x300);   // 3
  built.free(arena, 0x11000);           // 4
  wire::RegionShrinkRecord shrink;      // 5: under a live block, which still counts as in use.
  shrink.heap = arena;
  shrink.address = shrink.size = 0x10000;
  built.writer.add(shrink, built.time_ns += 1000);
  built.remove(arena);                 // 6
  built.alloc(arena, 0x30000, 0x400);  // 7: a heap of that name is made anew.
  const auto rows = rows_of(built, TraceTable::blocks);
  std::string text;
  for (const auto& row : rows)
    text += row.at("allocation_event") + " " + row.at("heap") + " " + row.at("size_bytes") + " " + row.at("state") +
            " " + row.at("freed_event") + " " + row.at("freed_since_start_ns") + "\n";
  EXPECT_EQ(
      "3 arena 768 freed 4 4000\n"
      " arena 1 heap_gone 6 6000\n"
      "1 arena 256 heap_gone 6 6000\n"
      "2 other 512 live  \n"
      "7 arena 1024 live  \n",
      text);
  EXPECT_EQ("1000", rows[2].at("allocated_since_start_ns"));
}

TEST(TraceCsv, blocks_that_are_missing_in_a_new_listing_were_freed_unseen) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", wire::heap_flag::has_addresses);
  built.live(heap, 0x9000, 9);
  built.live(heap, 0xa000, 10);
  for (std::uint64_t i = 1; i <= 3; ++i) built.alloc(heap, i * 0x1000, i);
  const auto list = [&] {
    std::vector<wire::LiveRecord> rows(3);
    rows[0].address = 0x3000;
    rows[0].size = 3;
    rows[0].event = 2;
    rows[1].address = 0x9000;  // Older than the stream: identified by its address.
    rows[1].size = 9;
    rows[2].address = 0x7000;  // The alloc was lost.
    rows[2].size = 77;
    for (wire::LiveRecord& row : rows) {
      row.requested = row.size;
      row.heap = heap;
    }
    built.writer.list_heap(heap, {}, rows, built.time_ns);
  };
  list();
  list();  // Listed again before anything happens: exported once.
  built.alloc(heap, 0x4000, 4);
  std::string text;
  for (const auto& row : rows_of(built, TraceTable::blocks))
    text += row.at("allocation_event") + " " + row.at("size_bytes") + " " + row.at("state") + " " +
            row.at("freed_event") + "\n";
  EXPECT_EQ(" 10 freed_unseen \n0 1 freed_unseen \n1 2 freed_unseen \n2 3 live \n 9 live \n 77 live \n3 4 live \n",
            text);
}

TEST(TraceCsv, handles_and_blocks_are_rows) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0), other = built.heap("other", 0);
  built.create(heap, 0xabc, 0x1000, built.stack("main"));  // 0
  built.create(heap, 2, 0x2000);                           // 1
  built.import(heap, 3, 0x4000);                           // 2: counted where it was created.
  built.create(other, 4, 0x8000);                          // 3
  built.map(heap, 0x10000, 0x1000, 0xabc);                 // 4
  built.release(0xabc);                                    // 5
  built.unmap(heap, 0x10000, 0x1000);                      // 6
  built.remove(other);                                     // 7
  std::string text;
  const auto rows = rows_of(built, TraceTable::blocks);
  for (const auto& row : rows)
    text += row.at("kind") + " " + row.at("handle") + " " + row.at("allocation_event") + " " + row.at("heap") + " " +
            row.at("size_bytes") + " " + row.at("requested_bytes") + " " + row.at("allocated_since_start_ns") + " " +
            row.at("freed_event") + " " + row.at("state") + " " + row.at("own_function") + "\n";
  EXPECT_EQ(
      "handle 0xabc 0 GPU 0 4096 4096 0 6 freed main\n"
      "handle 0x4 3 other 32768 32768 3000 7 heap_gone \n"
      "handle 0x2 1 GPU 0 8192 8192 1000  live \n",
      text);
}

TEST(TraceCsv, events_of_every_kind_have_their_values) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  built.alloc(heap, 0x1000, 16);
  wire::AttributeRecord attribute;
  attribute.allocation = 0;
  attribute.key = built.writer.define_string("path");
  attribute.value = built.writer.define_string("params/w");
  built.writer.add(attribute, built.time_ns);
  built.writer.note_loss(12, 700, built.time_ns, heap);
  built.writer.note_loss(0, 900, built.time_ns);
  wire::PhysicalImportRecord import;
  import.handle = 0xbeef;
  import.size = 0x2000;
  import.heap = heap;
  import.stack = built.stack("main");
  built.writer.add(import, built.time_ns);
  wire::PhysicalExportRecord exported;
  exported.handle = 0xbeef;
  built.writer.add(exported, built.time_ns);
  built.create(heap, 7, 0x1000);
  wire::MapRecord map;
  map.address = 0x7000;
  map.size = 0x800;
  map.handle = 7;
  map.offset = 0x400;
  map.heap = heap;
  built.writer.add(map, built.time_ns);
  built.release(0xbeef);
  wire::MarkerRecord mark;
  mark.name = built.writer.define_string("step");
  mark.device = 3;
  built.writer.add(mark, built.time_ns);
  std::string text;
  for (const auto& row : rows_of(built, TraceTable::events))
    text += row.at("kind") + " heap=" + row.at("heap") + " size=" + row.at("size_bytes") +
            " id=" + row.at("allocation_event") + " value=" + row.at("value") + " text=" + row.at("text") +
            " key=" + row.at("key") + " handle=" + row.at("handle") + " offset=" + row.at("offset_bytes") +
            " since=" + row.at("lost_since_ns") + " device=" + row.at("device") + " own=" + row.at("own_function") +
            "\n";
  EXPECT_EQ(
      "alloc heap=GPU 0 size=16 id=0 value= text= key= handle= offset= since= device= own=\n"
      "attribute heap= size= id=0 value= text=params/w key=path handle= offset= since= device= own=\n"
      "loss heap=GPU 0 size= id= value=12 text= key= handle= offset= since=700 device= own=\n"
      "loss heap= size= id= value= text= key= handle= offset= since=900 device= own=\n"
      "physical_import heap=GPU 0 size=8192 id= value= text= key= handle=0xbeef offset= since= device= own=main\n"
      "physical_export heap= size= id= value= text= key= handle=0xbeef offset= since= device= own=\n"
      "physical_create heap=GPU 0 size=4096 id=6 value= text= key= handle=0x7 offset= since= device= own=\n"
      "map heap=GPU 0 size=2048 id= value= text= key= handle=0x7 offset=1024 since= device= own=\n"
      "physical_release heap=GPU 0 size= id= value= text= key= handle=0xbeef offset= since= device= own=\n"
      "marker heap= size= id= value=0 text=step key= handle= offset= since= device=3 own=\n",
      text);
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
