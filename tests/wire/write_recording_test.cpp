// Traces written as recordings: the order of several streams, and what the file says of losses that came before it.
#include "analysis/write/recording.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/read/file_bytes.h"
#include "analysis/read/recording/read_recording.h"
#include "analysis/trace/told_losses.h"
#include "analysis/write/strip_paths.h"
#include "collector/wire/recording_file.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope {
namespace {

class WriteRecording : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  Trace read() const {
    const auto file = read_file(path_, std::uint64_t{1} << 30);
    EXPECT_TRUE(file);
    auto trace = read_recording(file->bytes(), path_);
    EXPECT_TRUE(trace) << trace.error().text();
    return std::move(*trace);
  }
  std::string path_ =
      (std::filesystem::temp_directory_path() / ("hbmscope_write_recording_" + std::to_string(getpid()) + ".hbm"))
          .string();
};

Trace make_trace(std::uint32_t streams, std::int64_t events) {
  Trace trace;
  trace.streams.resize(streams);
  for (std::uint32_t number = 0; number < streams; ++number) {
    wire::StreamWriter writer(
        number, [&](const wire::SharedBlock& block) { EXPECT_EQ(std::nullopt, trace.streams[number].append(block)); });
    wire::AllocRecord block;
    block.heap = writer.define_heap({}, "pool", "device");
    block.size = 512;
    for (std::int64_t i = 0; i < events; ++i) {
      block.address += 4096;
      // All begin at once; each is slower than the one before.
      writer.alloc(block, i * 1000 * (1 + number));
      if (i % 1000 == 999) writer.flush();
    }
    writer.flush();
  }
  return trace;
}

TEST_F(WriteRecording, streams_are_interleaved_by_time) {
  const Trace trace = make_trace(3, 200'000);
  ASSERT_TRUE(write_recording(trace, path_));
  const auto file = read_file(path_, std::uint64_t{1} << 30);
  std::vector<std::int64_t> last_times;
  std::vector<std::uint32_t> streams;
  std::vector<std::uint64_t> next_event(3);
  ASSERT_TRUE(wire::scan_recording(file->bytes().data(), file->bytes().size(), [&](const wire::SharedBlock& block) {
    last_times.push_back(block->header.last_time_ns);
    streams.push_back(block->header.stream);
    EXPECT_EQ(next_event[block->header.stream], block->header.first_event);
    next_event[block->header.stream] = block->end_event();
    return true;
  }));
  EXPECT_EQ((std::vector<std::uint64_t>{200'000, 200'000, 200'000}), next_event);
  EXPECT_TRUE(std::is_sorted(last_times.begin(), last_times.end()));
  EXPECT_FALSE(std::is_sorted(streams.begin(), streams.end())) << "one after the other";
  EXPECT_LE(streams.size(), 3U * 4);
}

TEST_F(WriteRecording, what_a_file_lost_is_told_by_all_that_are_written_from_it) {
  Trace trace = make_trace(2, 1000);
  trace.import.add("lost_bytes", Severity::loss, 700, "", "byte 12: a block's check sum differs");
  trace.import.add("not_finished", Severity::warning, 1);
  trace.import.add("events", Severity::info, 2000);
  for (int copy = 0; copy < 3; ++copy) {
    ASSERT_TRUE(write_recording(trace, path_));
    trace = read();
    EXPECT_EQ(700, trace.import.count_of("lost_bytes")) << "copy " << copy;
    EXPECT_EQ(1, trace.import.count_of("not_finished")) << "copy " << copy;
    EXPECT_EQ("byte 12: a block's check sum differs", find_told_loss(trace, "lost_bytes").example);
    EXPECT_EQ(Severity::loss, trace.import.worst());
    EXPECT_EQ(1000U, trace.streams[0].end_position());
    EXPECT_EQ(0U, trace.streams[0].definitions().bad_definitions());
  }
}

TEST_F(WriteRecording, a_sound_trace_stays_sound) {
  ASSERT_TRUE(write_recording(make_trace(1, 1000), path_));
  EXPECT_EQ(Severity::info, read().import.worst());
  EXPECT_TRUE(read().streams[0].definitions().job().empty());
}

TEST(ToldLosses, facts_that_make_no_sense_add_nothing) {
  Trace trace;
  trace.streams.resize(1);
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { trace.streams[0].append(std::move(block)); });
  const std::string key = key_of_told_loss("lost_bytes");
  for (const std::string value : {"", "many", "-3 x", "99999999999999999999", "12 here", "9223372036854775807", "3"})
    writer.add_job_fact(key, value);
  writer.add_job_fact(key_of_told_loss("bad_blocks"), "1");
  writer.flush();
  EXPECT_EQ(15, find_told_loss(trace, "lost_bytes").count);
  EXPECT_EQ("here", find_told_loss(trace, "lost_bytes").example);
  EXPECT_EQ("", find_told_loss(trace, "bad_blocks").example);
  EXPECT_EQ(0, find_told_loss(trace, "not_finished").count);
}

TEST_F(WriteRecording, says_once_that_paths_were_stripped) {
  ASSERT_TRUE(write_recording(make_trace(2, 10), path_, Paths::stripped));
  for (int time = 0; time < 2; ++time) {
    const Trace trace = read();
    for (const Stream& stream : trace.streams) {
      const std::vector<JobFact>& facts = stream.definitions().job();
      const auto says = [](const JobFact& fact) { return fact.key == stripped_fact && fact.value == "paths"; };
      EXPECT_EQ(1, std::count_if(facts.begin(), facts.end(), says));
    }
    ASSERT_TRUE(write_recording(trace, path_, Paths::stripped));
  }
}

}  // namespace
}  // namespace hbmscope
