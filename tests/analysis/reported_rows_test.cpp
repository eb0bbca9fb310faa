// Records of streams other than blocks, up to a given time, and traces of several files as one.
#include "analysis/query/reported_rows.h"

#include <gtest/gtest.h>

#include <memory>

#include "analysis/query/heap_rows.h"
#include "analysis/query/job_facts.h"
#include "analysis/trace/join_traces.h"
#include "analysis/trace/profile_from_trace.h"
#include "analysis/trace/stream_names.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

void count(TraceBuilder& built, const std::string& name, std::uint32_t heap, std::int64_t value) {
  wire::CounterRecord record;
  record.name = built.writer.define_string(name);
  record.heap = heap;
  record.value = value;
  built.writer.add(record, built.time_ns += 1000);
}

void attribute(TraceBuilder& built, std::uint64_t allocation, const std::string& key, const std::string& value) {
  wire::AttributeRecord record;
  record.allocation = allocation;
  record.key = built.writer.define_string(key);
  record.value = built.writer.define_string(value);
  built.writer.add(record, built.time_ns += 1000);
}

Moment moment_of(const TraceBuilder& built, const std::string& text) {
  return *find_moment(built.trace, text);
}

TEST(ReportedRows, counters_have_their_value_at_the_moment_and_their_extremes_up_to_it) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  count(built, "bytes_in_use", heap, 5);    // 0
  count(built, "bytes_in_use", heap, -7);   // 1
  count(built, "temperature", 0, 40);       // 2
  count(built, "bytes_in_use", heap, 100);  // 3
  built.states_at();
  const auto text_of = [&](const std::string& at) {
    std::string text;
    for (const CounterRow& row : compute_counter_rows(built.trace, moment_of(built, at))) {
      const auto number = [](const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : "?"; };
      text += row.name + " of " + row.heap + ": " + number(row.value) + " " + number(row.least) + " " +
              number(row.most) + " " + std::to_string(row.samples) + "\n";
    }
    return text;
  };
  EXPECT_EQ("bytes_in_use of GPU 0: 100 -7 100 3\ntemperature of : 40 40 40 1\n", text_of("end"));
  EXPECT_EQ("bytes_in_use of GPU 0: -7 -7 5 2\ntemperature of : ? ? ? 0\n", text_of("#2"));
}

TEST(ReportedRows, attributes_count_what_lives_once) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  built.live(heap, 0x9000, 1);
  built.alloc(heap, 0x1000, 100);                          // 0
  built.alloc(heap, 0x2000, 20);                           // 1
  built.create(heap, 5, 3000);                             // 2
  attribute(built, 0, "path", "w");                        // 3
  attribute(built, 0, "path", "params/w");                 // 4: a better value for the same block.
  attribute(built, 1, "path", "b");                        // 5
  attribute(built, 2, "shape", "f32[2]");                  // 6
  attribute(built, wire::before_the_stream, "path", "x");  // 7
  built.free(heap, 0x2000);                                // 8
  const auto rows_at = [&](const std::string& at) {
    std::string text;
    for (const AttributeRow& row : compute_attribute_rows(built.trace, built.states_at(at)))
      text += row.key + " " + std::to_string(row.count) + " " + std::to_string(row.live_blocks) + " " +
              std::to_string(row.live_bytes) + "\n";
    return text;
  };
  EXPECT_EQ("shape 1 1 3000\npath 4 1 100\n", rows_at("end"));
  EXPECT_EQ("path 3 2 120\n", rows_at("#6"));
  EXPECT_EQ("", rows_at("#3"));
}

TEST(ReportedRows, physical_memory_modules_and_facts_of_the_job) {
  TraceBuilder built;
  built.writer.add_job_fact("command", "train.py");
  built.writer.add_job_fact("hbmscope.source", "Test");
  built.writer.add_job_fact("command", "train.py");
  wire::ModuleRecord module;
  module.id = 1;
  module.base = 0x7f0000000000;
  module.size = 4096;
  module.path = built.writer.define_string("/lib/libcuda.so");
  built.writer.add(module, 0);
  const std::uint32_t heap = built.heap("GPU 0", 0);
  built.heap("GPU 1", 0);
  built.create(heap, 1, 0x3000);
  built.create(heap, 2, 0x1000);
  built.map(heap, 0x10000, 0x1000, 2);
  const auto rows = compute_heap_rows(built.trace, built.states_at());
  ASSERT_TRUE(rows[0].physical);
  EXPECT_EQ(0x4000U, rows[0].physical->owned_bytes);
  EXPECT_EQ(0x3000U, rows[0].physical->unmapped_bytes);
  EXPECT_EQ(0x1000U, rows[0].physical->mapped_bytes);
  EXPECT_FALSE(rows[1].physical);
  const auto modules = find_modules(built.trace);
  ASSERT_EQ(1U, modules.size());
  EXPECT_EQ("/lib/libcuda.so", modules[0].path);
  EXPECT_EQ(4096U, modules[0].size_bytes);
  const auto facts = find_job_facts(built.trace);
  ASSERT_EQ(1U, facts.size());
  EXPECT_EQ((std::vector<std::string>{"train.py"}), facts[0].values);
}

TEST(JoinTraces, heaps_of_one_name_are_distinguished_by_their_file) {
  std::vector<std::shared_ptr<const Trace>> traces;
  for (const char* file : {"a/rank_0.hbm", "a/rank_1.hbm"}) {
    TraceBuilder built;
    const std::uint32_t heap = built.heap("GPU 0", 0);
    built.alloc(heap, 0x1000, traces.empty() ? 100 : 20);
    if (!traces.empty()) built.heap("GPU 1", 0);
    built.states_at();
    built.trace.files = {file};
    built.trace.drop_frames = "malloc";
    built.trace.import.add("rows", Severity::info, 3, "", "line 7");
    traces.push_back(std::make_shared<const Trace>(std::move(built.trace)));
  }
  const Trace joined = join_traces(traces);
  EXPECT_EQ("test", joined.format);
  EXPECT_EQ("malloc", joined.drop_frames);
  EXPECT_EQ(6, joined.import.count_of("rows"));
  EXPECT_EQ("a/rank_0.hbm: line 7", joined.import.rows()[0].example);
  const auto states = compute_states(joined, *find_moment(joined, "end"));
  std::string text;
  for (const HeapRow& row : compute_heap_rows(joined, states))
    text += row.label + " of " + row.file + ": " + std::to_string(row.in_use_bytes) + "\n";
  EXPECT_EQ(
      "GPU 0 (rank_0.hbm) of a/rank_0.hbm: 100\nGPU 0 (rank_1.hbm) of a/rank_1.hbm: 20\nGPU 1 of a/rank_1.hbm: 0\n",
      text);
  const Profile profile = profile_from_trace(joined, states);
  EXPECT_EQ(2U, profile.sample_count());
  EXPECT_EQ(3U, profile.label_set_count()) << "a device of each file, and the set without a label";
  EXPECT_EQ("a/rank_0.hbm", short_file_of_stream(
                                [&] {
                                  Trace same;
                                  same.files = same.stream_files = {"a/rank_0.hbm", "b/rank_0.hbm"};
                                  return same;
                                }(),
                                0));
}

}  // namespace
}  // namespace hbmscope
