// Traces of a few events as torch.profiler writes them, and their oddities.
#include "analysis/read/kineto/read_kineto.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libdeflate.h>

#include "analysis/query/block_history.h"
#include "analysis/query/heap_rows.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/read/source/read_source.h"
#include "analysis/write/trace_table.h"
#include "tests/analysis/text_bytes.h"

namespace hbmscope {
namespace {

std::string memory(std::string_view ts, long long bytes, unsigned long long address, std::string_view more = {},
                   int tid = 7, std::string_view device = R"("Device Id": 0, "Device Type": 1)") {
  return fmt::format(
      R"({{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": {},
        "ts": {}, "args": {{{} "Bytes": {}, "Addr": {}, {}, "Ev Idx": 3}}}})",
      tid, ts, more, bytes, address, device);
}
std::string span(std::string_view category, std::string_view name, std::string_view ts, std::string_view duration,
                 int tid = 7) {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 7, "tid": {}, "ts": {}, "dur": {},
        "args": {{"External id": 5, "Input Dims": [[2, 3], []]}}}})",
      category, name, tid, ts, duration);
}
std::string file_of(const std::vector<std::string>& events) {
  std::string text = R"({
  "schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 84929347584}],
  "profile_memory": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": 1759000000000000000,
  "traceEvents": [)";
  for (const std::string& event : events) text += (&event == &events.front() ? "\n" : ",\n") + event;
  return text + "\n  ], \"traceName\": \"trace.json\"}\n";
}

Trace kineto_trace(const std::string& text) {
  auto trace = read_kineto(bytes_of(text), "trace.json");
  if (trace) return std::move(*trace);
  ADD_FAILURE() << trace.error().text();
  Trace none;
  none.streams.emplace_back();
  return none;
}
std::string error_of_kineto(const std::string& text) {
  const auto trace = read_kineto(bytes_of(text), "trace.json");
  return trace ? "" : trace.error().text();
}

// "f a.py:3 < main a.py:9", the innermost first.
std::string stack_text(const Definitions& definitions, std::uint32_t stack) {
  std::string text;
  for (; stack != 0; stack = definitions.stack(stack).parent) {
    const TraceFrame frame = definitions.frame(definitions.stack(stack).frame);
    if (!text.empty()) text += " < ";
    text += definitions.text(frame.function);
    if (frame.line != 0) text += fmt::format(" {}:{}", definitions.text(frame.file), frame.line);
  }
  return text;
}

TEST(KinetoReader, blocks_totals_and_devices) {
  const Trace trace = kineto_trace(file_of({
      memory("100.250", 512, 4096, R"("Total Reserved": 2097152, "Total Allocated": 512,)"),
      memory("300.001", -512, 4096, R"("Total Reserved": 2097152, "Total Allocated": 1024,)"),
      memory("200", 1024, 8192, R"("Total Reserved": 2097152, "Total Allocated": 1536,)"),
      memory("250", 64, 140'062'951'899'136, {}, 9, R"("Device Id": -1, "Device Type": 0)"),
  }));
  EXPECT_EQ("kineto", trace.format);
  const Stream& stream = trace.streams.front();
  const Definitions& definitions = stream.definitions();
  ASSERT_EQ(3U, definitions.heaps().size());
  EXPECT_EQ("CUDA 0", definitions.heap(1).name);
  EXPECT_EQ(0U, definitions.heap(1).device);
  EXPECT_EQ("device", definitions.heap(1).memory_kind);
  EXPECT_EQ("CPU", definitions.heap(2).name);
  EXPECT_EQ("host", definitions.heap(2).memory_kind);
  EXPECT_EQ(wire::no_device, definitions.heap(2).device);
  EXPECT_EQ(1024U, stream.last_state().heap(1).in_use_bytes);
  EXPECT_EQ(64U, stream.last_state().heap(2).in_use_bytes);
  EXPECT_EQ(1536U, stream.peak(1).in_use_bytes);
  EXPECT_EQ(std::nullopt, stream.last_state().heap(1).known_requested_bytes());
  EXPECT_EQ(std::nullopt, stream.last_state().heap(1).space.free_bytes());
  EXPECT_EQ(3U, stream.counts().alloc);
  EXPECT_EQ(1U, stream.counts().free);
  EXPECT_EQ(100'250, stream.first_time_ns());
  EXPECT_EQ(300'001, stream.last_time_ns());
  std::map<std::string, std::vector<std::int64_t>> counters;
  for (const auto& [key, series] : stream.counters().series())
    series.for_each([&, name = std::string(definitions.text(key.first))](const CounterSample& sample) {
      counters[name].push_back(sample.value);
    });
  EXPECT_EQ((std::vector<std::int64_t>{512, 1536, 1024}), counters["total_allocated"]);
  EXPECT_EQ((std::vector<std::int64_t>{2097152}), counters["total_reserved"]);
  EXPECT_EQ(1'759'000'000'000'100'250, stream.clocks().realtime_of(100'250));
  EXPECT_EQ(Severity::info, trace.import.worst());
}

TEST(KinetoReader, stacks_are_the_spans_of_the_thread_around_the_event) {
  const Trace trace = kineto_trace(file_of({
      memory("25", 1, 4096),
      memory("45", 2, 8192),
      memory("46", 3, 12288, {}, 8),
      memory("95", 4, 16384),
      // In no order, as Kineto writes them.
      span("cpu_op", "aten::empty", "24.5", "1"),
      span("python_function", "train.py(12): step", "20", "30"),
      span("python_function", "train.py(40): main", "0", "90"),
      span("cpu_op", "aten::linear", "24", "10"),
      span("kernel", "sm90_gemm", "24", "10"),
      span("python_function", "<built-in method zeros of type object at 0x7f>", "44", "2"),
      span("cpu_op", "aten::add", "40", "20", 8),
  }));
  const Definitions& definitions = trace.streams.front().definitions();
  std::map<std::uint64_t, std::string> stacks;
  for (const LiveBlock& block : trace.streams.front().last_state().slots())
    stacks[block.size] = stack_text(definitions, block.stack);
  EXPECT_EQ("aten::empty < aten::linear < step train.py:12 < main train.py:40", stacks[1]);
  EXPECT_EQ("<built-in method zeros of type object> < step train.py:12 < main train.py:40", stacks[2]);
  EXPECT_EQ("aten::add", stacks[3]);
  EXPECT_EQ("", stacks[4]);
  std::set<std::string_view> files;
  for (std::uint32_t frame = 1; frame < definitions.frame_count(); ++frame)
    files.insert(definitions.text(definitions.frame(frame).file));
  EXPECT_EQ((std::set<std::string_view>{"<built-in>", "<operator>", "train.py"}), files);
}

// Any calls that lie in each other: the stack is what a walk over all spans of the thread finds.
TEST(KinetoReader, stacks_agree_with_a_walk_over_all_spans) {
  struct Call {
    int begin, end, tid;
    std::string name;
  };
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    std::vector<Call> calls;
    const auto fill = [&](const auto& self, int begin, int end, int depth) -> void {
      while (begin + 2 < end && calls.size() < 300) {
        const int from = begin + static_cast<int>(random() % 20), to = from + 1 + static_cast<int>(random() % 60);
        if (to >= end) return;
        calls.push_back({from, to, static_cast<int>(depth % 1000), fmt::format("f{}", calls.size())});
        if (random() % 3 != 0) self(self, from + 1, to, depth);
        begin = to + 1;
      }
    };
    for (int tid = 0; tid < 2; ++tid) fill(fill, 0, 1500, tid);
    std::vector<std::string> events;
    for (const Call& call : calls)
      events.push_back(
          span("cpu_op", call.name, std::to_string(call.begin), std::to_string(call.end - call.begin), call.tid));
    std::map<std::uint64_t, std::string> expected;
    for (std::uint64_t i = 1; i <= 100; ++i) {
      const int time = static_cast<int>(random() % 1600), tid = static_cast<int>(random() % 2);
      events.push_back(memory(std::to_string(time), static_cast<long long>(i), i * 4096, {}, tid));
      std::string& stack = expected[i];
      for (const Call& call : calls) {
        if (call.tid != tid || call.begin > time || call.end < time) continue;
        stack = call.name + (stack.empty() ? "" : " < ") + stack;  // Made from outside to inside.
      }
    }
    std::shuffle(events.begin(), events.end(), random);
    const Trace trace = kineto_trace(file_of(events));
    for (const LiveBlock& block : trace.streams.front().last_state().slots())
      ASSERT_EQ(expected[block.size], stack_text(trace.streams.front().definitions(), block.stack)) << seed;
  }
}

TEST(KinetoReader, what_was_there_before_the_profile) {
  const Trace trace = kineto_trace(file_of({
      memory("5", 100, 4096, R"("Total Allocated": 5100,)"),
      memory("9", -2000, 8192, R"("Total Allocated": 3100,)"),
      memory("9.5", 300, 8192, R"("Total Allocated": 3400,)"),
  }));
  const Stream& stream = trace.streams.front();
  EXPECT_EQ(5000U, stream.state_at(0).heap(1).in_use_bytes) << "2000 of it a free names, 3000 nothing but the total";
  EXPECT_EQ(5100U, stream.peak(1).in_use_bytes);
  EXPECT_EQ(3400U, stream.last_state().heap(1).in_use_bytes);
  EXPECT_EQ(3U, stream.last_state().heap(1).live_blocks);
  EXPECT_EQ(0U, stream.last_state().problems().unknown_frees);
  EXPECT_EQ(1, trace.import.count_of("older_blocks"));
  EXPECT_EQ(3000, trace.import.count_of("bytes_before_profile"));
}

TEST(KinetoReader, bytes_that_no_event_names_are_a_block_without_an_address) {
  const Trace trace = kineto_trace(file_of({
      memory("4", 7, 1),  // Reports no total, at the address that is invented first.
      memory("5", 100, 4096, R"("Total Reserved": 8192, "Total Allocated": 5107,)"),
      memory("6", 64, 4096, R"("Total Allocated": 64,)", 7, R"("Device Id": 1, "Device Type": 1)"),
  }));
  const Stream& stream = trace.streams.front();
  const std::vector<StreamState> states = compute_states(trace, *find_moment(trace, "end"));
  std::vector<LiveBlock> without;
  for (const LiveBlock& block : states[0].slots())
    if (block.is_live() && !block.has_address()) without.push_back(block);
  ASSERT_EQ(1U, without.size()) << "of the second device the total is what its events say";
  EXPECT_EQ(5000U, without[0].size);
  EXPECT_EQ("in use before the profile", stream.definitions().text(without[0].tag));
  EXPECT_EQ("in use before the profile", stack_text(stream.definitions(), without[0].stack));
  EXPECT_EQ("(no stack was recorded)", user_code_text(stream.definitions(), without[0].stack));
  EXPECT_EQ(0U, stream.last_state().problems().total());
  EXPECT_FALSE(find_place(states[0], 1, without[0].address + 10).slot) << "nobody knows what lies there";
  const HeapRow row = compute_heap_rows(trace, states).front();
  EXPECT_EQ(5107U, row.in_use_bytes);
  EXPECT_EQ(8192U, row.pool_bytes) << "the total tells it";
  EXPECT_EQ(8192U - 5107U, row.free_bytes);
  EXPECT_EQ(std::nullopt, row.largest_free_bytes);
  std::string csv;
  write_trace_csv(trace, states, TraceTable::blocks, [&](std::string_view text) {
    csv += text;
    return true;
  });
  EXPECT_NE(std::string::npos, csv.find("0,,CUDA 0,,5000,")) << csv;
}

TEST(KinetoReader, an_out_of_memory_is_a_failure_with_its_stack) {
  std::string failure = memory("50", 68'719'476'736, 0);
  failure.replace(failure.find("[memory]"), 8, "[OutOfMemory]");
  const Trace trace =
      kineto_trace(file_of({memory("5", 100, 4096), failure, span("cpu_op", "aten::empty", "40", "20")}));
  const Stream& stream = trace.streams.front();
  ASSERT_EQ(1U, stream.failures().size());
  EXPECT_EQ(68'719'476'736U, stream.failures()[0].requested_bytes);
  EXPECT_EQ("aten::empty", stack_text(stream.definitions(), stream.failures()[0].stack));
  EXPECT_EQ(100U, stream.last_state().heap(1).in_use_bytes);
}

TEST(KinetoReader, what_makes_no_sense_is_counted) {
  const Trace trace = kineto_trace(file_of({
      memory("1", 100, 4096),
      memory("2", 100, 4096),
      memory("3", 0, 4096),
      memory("\"4\"", 100, 8192),
      memory("5e9", 100, 8192),
      memory("6", 100, 8192, {}, 7, R"("Device Id": "zero", "Device Type": 1)"),
      memory("7", 100, 8192, {}, 7, R"("Device Id": 0, "Device Type": 9000)"),
      R"({"ph": "i", "name": "[memory]", "ts": 8, "args": {"Bytes": 18446744073709551615, "Addr": 1}})",
      R"({"ph": "i", "name": "[memory]", "ts": 8, "args": {"Bytes": 4}})",
  }));
  EXPECT_EQ(1, trace.import.count_of("missing_frees"));
  EXPECT_EQ(1, trace.import.count_of("empty_events"));
  EXPECT_EQ(2, trace.import.count_of("bad_times"));
  EXPECT_EQ(3, trace.import.count_of("bad_fields"));
  EXPECT_EQ(1, trace.import.count_of("without_address"));
  EXPECT_EQ(100U, trace.streams.front().last_state().heap(1).in_use_bytes);
}

TEST(KinetoReader, refuses_with_the_byte_and_what_to_do) {
  const std::string whole = file_of({memory("1", 100, 4096)});
  for (std::size_t length = 1; length + 3 < whole.size(); length += 37) {
    const auto cut = read_kineto(bytes_of(whole).first(length), "trace.json");
    ASSERT_FALSE(cut.has_value()) << length;
    EXPECT_EQ(length, cut.error().offset) << cut.error().text();
  }
  EXPECT_EQ(
      0U,
      error_of_kineto(whole.substr(0, 200)).find("trace.json: byte 200: this Chrome trace is incomplete: unexpected"))
      << error_of_kineto(whole.substr(0, 200));
  std::string broken = whole;
  broken[broken.find("\"args\"")] = '\'';
  EXPECT_NE(std::string::npos, error_of_kineto(broken).find("invalid literal")) << error_of_kineto(broken);
  EXPECT_NE(std::string::npos,
            error_of_kineto(file_of({})).find("this is a Chrome trace without memory events. Record one with"));
  EXPECT_NE(std::string::npos, error_of_kineto(R"({"a": 1})").find("it is not a Chrome trace"));
  ReadControl control;
  control.cancelled = true;
  EXPECT_FALSE(read_kineto(bytes_of(whole), "trace.json", &control).has_value());
}

TEST(KinetoReader, looks_at_the_first_key) {
  const auto looks = [](const std::string& text) { return looks_like_kineto(bytes_of(text)); };
  EXPECT_TRUE(looks(file_of({}).substr(0, 64)));
  EXPECT_TRUE(looks("{\"traceEvents\":["));
  EXPECT_FALSE(looks("{\"traceEventsOf\":["));
  EXPECT_FALSE(looks("{\"traceEvents"));
  EXPECT_FALSE(looks("{"));
  EXPECT_FALSE(looks(""));
  EXPECT_FALSE(looks("[{\"ph\": 1}]"));
  EXPECT_TRUE(looks("{\"metadata\": {\"by\": \"a tool\"}, \"traceEvents\": []}"));
  EXPECT_FALSE(looks("{\"metadata\": {\"by\": \"a tool\"}, \"events\": []}"));
  EXPECT_FALSE(looks("{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"traceEvents\":[]}"))
      << "a timeline of XLA's profiler";
}

TEST(KinetoReader, keys_of_a_tool_may_be_in_front_of_the_events_however_long) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("kineto_{}.json", ::getpid())).string();
  for (const std::size_t size : {10UL, 200'000UL}) {
    const std::string text = file_of({memory("1", 100, 4096)});
    std::ofstream(path) << "{\"metadata\": {\"notes\": \"" << std::string(size, 'x') << "\"}," << text.substr(1);
    const auto source = read_source(path, {});
    ASSERT_TRUE(source.has_value()) << source.error().text();
    ASSERT_NE(nullptr, source->trace);
    EXPECT_EQ(100, source->profile->values[1][0]);
  }
  std::filesystem::remove(path);
}

TEST(KinetoReader, opens_bare_and_gzipped_files_by_what_is_in_them) {
  const std::string text = file_of({memory("1", 100, 4096), span("python_function", "train.py(40): main", "0", "9")});
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("hbmscope_kineto_{}", ::getpid());
  std::filesystem::create_directory(folder);
  const std::string plain = folder / "a", packed = folder / "b", cut = folder / "c";
  const auto gzip = [](const std::string& bytes) {
    libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
    std::string out(libdeflate_gzip_compress_bound(compressor, bytes.size()), '\0');
    out.resize(libdeflate_gzip_compress(compressor, bytes.data(), bytes.size(), out.data(), out.size()));
    libdeflate_free_compressor(compressor);
    return out;
  };
  std::ofstream(plain) << text;
  std::ofstream(packed) << gzip(text);
  std::ofstream(cut) << gzip(text.substr(0, 300));
  for (const std::string& file : {plain, packed}) {
    const auto source = read_source(file, {});
    ASSERT_TRUE(source.has_value()) << source.error().text();
    ASSERT_NE(nullptr, source->trace);
    EXPECT_EQ("kineto", source->trace->format);
    EXPECT_EQ(std::filesystem::file_size(file), source->trace->file_bytes);
    EXPECT_EQ(100, source->profile->values[1][0]);
  }
  const auto refused = read_source(cut, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(std::string::npos, refused.error().text().find("byte 300 (after inflating)")) << refused.error().text();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hbmscope
