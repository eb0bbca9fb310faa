// Logs and texts of real failures, from the data folder if it is there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "analysis/query/heap_rows.h"
#include "analysis/read/bfc/read_memory_dump.h"
#include "analysis/read/source/read_source.h"
#include "tests/analysis/log_texts.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

using tests::findings_of;
using tests::trace_of;

std::filesystem::path data_folder() {
  const char* named = std::getenv("HBMSCOPE_DATA");
  return named != nullptr ? named : "../shared/data";
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LogRecorded, the_log_and_the_memory_dump_of_one_failure_list_the_same_chunks) {
  const std::filesystem::path folder = data_folder() / "real_oom";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const log::Findings findings = findings_of(content_of(folder / "jfrag_2.log"));
  ASSERT_EQ(findings.failures.size(), 1);
  const std::string bytes = content_of(folder / "jfrag_2.memorydump.pb");
  const auto dump =
      bfc::read_memory_dump({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "jfrag_2");
  ASSERT_TRUE(dump);
  std::map<std::uint64_t, std::uint64_t> listed;
  for (const bfc::Region& region : dump->regions)
    for (const bfc::Chunk& chunk : region.chunks)
      if (chunk.is_in_use) listed[chunk.address] = chunk.size;
  // The dump is of an earlier attempt of the same request: four more buffers were in use then.
  std::size_t same = 0;
  for (const bfc::Region& region : findings.failures.front().dump->regions)
    for (const bfc::Chunk& chunk : region.chunks)
      if (chunk.is_in_use && listed.count(chunk.address) != 0 && listed[chunk.address] == chunk.size) ++same;
  EXPECT_EQ(same, 46);
  EXPECT_EQ(listed.size(), 50);
}

TEST(LogRecorded, the_sentence_of_pytorch_agrees_with_the_snapshot_of_the_same_failure) {
  const std::filesystem::path folder = data_folder() / "real_oom";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const auto snapshot = read_source((folder / "toom_2.pickle").string(), {});
  ASSERT_TRUE(snapshot) << snapshot.error().what;
  const auto then = compute_failure_rows(*snapshot->trace);
  const auto rows = compute_failure_rows(trace_of(content_of(folder / "toom_2.log")));
  ASSERT_EQ(rows.size(), 1);
  const FailureRow& said = rows.front();
  ASSERT_EQ(then.size(), 1);
  constexpr std::uint64_t rounding = gib / 100;  // "3.89 GiB".
  EXPECT_EQ(said.requested_bytes, then[0].requested_bytes);
  EXPECT_EQ(said.available_bytes, then[0].available_bytes);
  EXPECT_NEAR(static_cast<double>(*said.used_bytes), static_cast<double>(*then[0].used_bytes), rounding);
  EXPECT_EQ(said.total_free_bytes, then[0].total_free_bytes);
}

TEST(LogRecorded, every_text_of_the_data_folder_has_its_failure) {
  std::size_t texts = 0;
  std::error_code error;
  for (const char* folder : {"oom/gpu", "oom/tpu", "wild", "bfc/samples", "tpu/aot/oom"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data_folder() / folder, error)) {
      const std::string name = entry.path().filename().string();
      const bool is_text = name.ends_with(".log.txt") || name.ends_with(".e") || name.starts_with("w_") ||
                           name.starts_with("u_") || std::string_view(folder).find("oom") != std::string_view::npos;
      if (!entry.is_regular_file() || !is_text || name.ends_with(".json")) continue;
      ++texts;
      SCOPED_TRACE(entry.path().string());
      const std::string text = content_of(entry.path());
      const Trace trace = trace_of(text);
      EXPECT_EQ(trace.import.count_of("encoding"), 0);
      EXPECT_EQ(trace.import.count_of("sums_differ"), 0);
      const bool is_statistics = text.find("Num Allocs:") != std::string::npos;
      EXPECT_TRUE(is_statistics || trace.import.count_of("failures") > 0);
    }
  if (texts == 0) GTEST_SKIP() << "no texts in ../shared/data (HBMSCOPE_DATA names the folder)";
}

TEST(Log, a_verdict_on_a_failure_in_the_same_log_is_no_second_one) {
  const std::string error =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 250.00 MiB. GPU 0 has a total capacity of 8.00 "
      "GiB "
      "of which 24.00 MiB is free. Including non-PyTorch memory, this process has 7.98 GiB memory in use. Of the "
      "allocated memory 7.36 GiB is allocated by PyTorch, and 133.00 MiB is reserved by PyTorch but unallocated.\n";
  const std::string verdict =
      "hbmscope: watched: python train.py (1): pool of PyTorch; driver calls\n"
      "out of memory: CUDA out of memory. Tried to allocate 250.00 MiB. GPU 0 has a total capacity of 8.00 GiB of "
      "which "
      "24.00 MiB is free. Including non-PyTorch memory, this process has 7.98 GiB memory in use. (train.py:32)\n";
  const auto failures_in = [](const std::string& text) {
    return compute_failure_rows(*read_text_source(text, "train.log")->trace);
  };
  for (const std::string& text : {error + verdict, verdict + error}) {
    const auto rows = failures_in(text);
    ASSERT_EQ(rows.size(), 1);
    EXPECT_NE(rows[0].reason.find("Of the allocated"), std::string::npos) << "the job's own words say more";
  }
  EXPECT_EQ(failures_in(verdict).size(), 1);
  std::string other = verdict;
  other.replace(other.find("250.00"), 6, "350.00");
  EXPECT_EQ(failures_in(error + other).size(), 2) << "on another request";
}

}  // namespace
}  // namespace hbmscope
