// Traces written as recordings: the order of several streams, and what the file says of losses that came before it.
#include "analysis/write/recording.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analysis/read/file_bytes.h"
#include "analysis/read/recording/read_recording.h"
#include "analysis/trace/reported_losses.h"
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
      // All begin at once; each is slower than the previous one.
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

TEST_F(WriteRecording, losses_of_a_file_are_kept_in_all_files_written_from_it) {
  Trace trace = make_trace(2, 1000);
  trace.import.add("lost_bytes", Severity::loss, 700, "", "byte 12: a block's check sum differs");
  trace.import.add("not_finished", Severity::warning, 1);
  trace.import.add("events", Severity::info, 2000);
  for (int copy = 0; copy < 3; ++copy) {
    ASSERT_TRUE(write_recording(trace, path_));
    trace = read();
    EXPECT_EQ(700, trace.import.count_of("lost_bytes")) << "copy " << copy;
    EXPECT_EQ(1, trace.import.count_of("not_finished")) << "copy " << copy;
    EXPECT_EQ("byte 12: a block's check sum differs", find_reported_loss(trace, "lost_bytes").example);
    EXPECT_EQ(Severity::loss, trace.import.worst());
    EXPECT_EQ(1000U, trace.streams[0].end_position());
    EXPECT_EQ(0U, trace.streams[0].definitions().bad_definitions());
  }
}

TEST_F(WriteRecording, its_curves_alone_say_what_all_of_it_says) {
  ASSERT_TRUE(write_recording(make_trace(3, 100'000), path_));
  const auto expect_same = [&](bool has_blocks) {
    const Trace whole = read();
    const auto file = read_file(path_, std::uint64_t{1} << 30);
    const auto curves = read_recording_curves(file->bytes(), path_, std::uint64_t{1} << 30);
    ASSERT_TRUE(curves);
    ASSERT_EQ(whole.streams.size(), curves->streams.size());
    for (std::size_t i = 0; i < whole.streams.size(); ++i) {
      const Stream &expected = whole.streams[i], &found = curves->streams[i];
      EXPECT_EQ(has_blocks ? expected.blocks().size() : 0, found.blocks().size());
      EXPECT_EQ(expected.counts().total, found.counts().total);
      EXPECT_EQ(expected.counts().lost, found.counts().lost);
      EXPECT_EQ(expected.end_position(), found.end_position());
      EXPECT_EQ(expected.peak(1).in_use_bytes, found.peak(1).in_use_bytes);
      EXPECT_EQ(expected.peak(1).time_ns, found.peak(1).time_ns);
      EXPECT_EQ(has_blocks ? 0 : expected.last_state().in_use_bytes(1), found.curve(1).now());
    }
  };
  expect_same(false);
  // Where events are lost the curves take everything else to be known.
  const auto bytes = static_cast<std::streamoff>(std::filesystem::file_size(path_));
  std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary).seekp(bytes / 2) << std::string(64, 'x');
  EXPECT_GT(read().streams[0].counts().lost + read().streams[1].counts().lost + read().streams[2].counts().lost, 0U);
  expect_same(true);
}

TEST_F(WriteRecording, a_sound_trace_stays_sound) {
  ASSERT_TRUE(write_recording(make_trace(1, 1000), path_));
  EXPECT_EQ(Severity::info, read().import.worst());
  EXPECT_TRUE(read().streams[0].definitions().job().empty());
}

// Copying does not make computed sizes exact.
TEST_F(WriteRecording, import_problems_are_kept_in_all_files_written_from_it) {
  Trace trace = make_trace(2, 1000);
  trace.format = "torch";
  trace.import.add("size_derived", Severity::notice, 2162, "Sizes were worked out.", "block 7");
  trace.import.add("odd", Severity::warning, 1, "", "at /home/me/job/s.pickle");
  trace.import.add("segments", Severity::info, 40);
  for (int copy = 0; copy < 3; ++copy) {
    ASSERT_TRUE(write_recording(trace, path_, copy == 0 ? Paths::stripped : Paths::as_they_are));
    trace = read();
    EXPECT_EQ(2162, trace.import.count_of("size_derived")) << "copy " << copy;
    EXPECT_EQ(0, trace.import.count_of("segments"));
    EXPECT_EQ(Severity::warning, trace.import.worst());
    for (const ImportStatistic& row : trace.import.rows()) {
      if (row.name == "size_derived") {
        EXPECT_EQ(Severity::notice, row.severity);
        EXPECT_EQ("Sizes were worked out.", row.remedy);
        EXPECT_EQ("block 7", row.example);
      }
      EXPECT_EQ(std::string::npos, row.example.find("/home")) << row.example;
    }
  }
}

TEST(ReportedLosses, caveats_that_make_no_sense_add_nothing) {
  Trace trace;
  trace.streams.resize(1);
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { trace.streams[0].append(std::move(block)); });
  for (const std::string value : {"", "notice", "notice\n", "notice\nmany\nx", "notice\n-3\nx\ny", "info\n3\nx\ny",
                                  "worse\n3", "loss\n99999999999999999999"})
    writer.add_job_fact("hbmscope.caveat.odd", value);
  writer.add_job_fact("hbmscope.caveat.odd", "notice\n3");
  writer.flush();
  add_reported_caveats(trace);
  EXPECT_EQ(3, trace.import.count_of("odd"));
  EXPECT_EQ(1U, trace.import.rows().size());
}

TEST(ReportedLosses, facts_that_make_no_sense_add_nothing) {
  Trace trace;
  trace.streams.resize(1);
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { trace.streams[0].append(std::move(block)); });
  const std::string key = key_of_reported_loss("lost_bytes");
  for (const std::string value : {"", "many", "-3 x", "99999999999999999999", "12 here", "9223372036854775807", "3"})
    writer.add_job_fact(key, value);
  writer.add_job_fact(key_of_reported_loss("bad_blocks"), "1");
  writer.flush();
  EXPECT_EQ(15, find_reported_loss(trace, "lost_bytes").count);
  EXPECT_EQ("here", find_reported_loss(trace, "lost_bytes").example);
  EXPECT_EQ("", find_reported_loss(trace, "bad_blocks").example);
  EXPECT_EQ(0, find_reported_loss(trace, "not_finished").count);
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

// The last block of events is cut out of the middle of the file; index and trailer stay.
TEST_F(WriteRecording, an_end_that_is_missing_is_lost_and_stays_so) {
  const Trace whole = make_trace(1, 150'000);
  ASSERT_TRUE(write_recording(whole, path_));
  const auto file = read_file(path_, std::uint64_t{1} << 30);
  ASSERT_TRUE(file);
  std::vector<std::uint8_t> bytes(file->bytes().begin(), file->bytes().end());
  std::vector<wire::SharedBlock> blocks;
  ASSERT_TRUE(wire::scan_recording(bytes.data(), bytes.size(), [&](const wire::SharedBlock& block) {
    blocks.push_back(block);
    return true;
  }));
  const wire::Block& last = *blocks.back();
  const auto* header = reinterpret_cast<const std::uint8_t*>(&last.header);
  const auto at = std::search(bytes.begin(), bytes.end(), header, header + sizeof(last.header));
  ASSERT_NE(bytes.end(), at);
  bytes.erase(at, at + static_cast<std::ptrdiff_t>(sizeof(last.header) + last.payload.size()));
  std::ofstream(path_, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  for (int time = 0; time < 3; ++time) {
    const Trace trace = read();
    const Stream& stream = trace.streams.front();
    EXPECT_EQ(150'000U, stream.end_position());
    EXPECT_EQ(1U, stream.counts().missing_blocks);
    EXPECT_EQ(last.header.events, stream.counts().lost);
    EXPECT_TRUE(stream.last_state().heap(1).is_inexact);
    ASSERT_TRUE(write_recording(trace, path_));
  }
}

}  // namespace
}  // namespace hbmscope
