// The original's reports, in the folder of real data: samples/NAME.jsonl with NAME.log.txt, NAME.memorydump.pb and
// NAME.traceme.txt, and one log in the wording of jax 0.7.1.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/allocator/report_watcher.h"

namespace hbmscope::allocator {
namespace {

std::filesystem::path samples_folder() {
  const char* named = std::getenv("HBMSCOPE_DATA");
  return std::filesystem::path(named != nullptr ? named : "../shared/data") / "bfc" / "samples";
}

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> sample_streams() {
  std::vector<std::filesystem::path> streams;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(samples_folder(), error))
    if (entry.path().extension() == ".jsonl") streams.push_back(entry.path());
  std::sort(streams.begin(), streams.end());
  return streams;
}

TEST(RecordedReports, are_repeated_byte_for_byte) {
  const auto streams = sample_streams();
  if (streams.empty()) GTEST_SKIP() << "no samples in " << samples_folder() << " (HBMSCOPE_DATA names the folder)";
  int compared = 0;
  for (const auto& path : streams) {
    const RequestStream stream = stream_of(read_whole(path));
    const ReportWatcher reports = play_with_reports(stream, version_of(stream.config));
    const auto compare = [&](const std::string& extension, const std::string& ours) {
      const auto sample = std::filesystem::path(path).replace_extension(extension);
      if (!std::filesystem::exists(sample)) return;
      EXPECT_EQ(ours, read_whole(sample)) << sample;
      ++compared;
    };
    compare(".log.txt", reports.log);
    compare(".memorydump.pb", reports.dump);
    compare(".traceme.txt", reports.trace);
  }
  EXPECT_GT(compared, 0);
}

TEST(RecordedReports, in_the_words_of_jax_0_7_1) {
  const auto path = samples_folder() / "oom_sample_old_jax071.log.txt";
  const auto streams = sample_streams();
  if (streams.empty() || !std::filesystem::exists(path)) GTEST_SKIP() << "no such log in " << samples_folder();
  const RequestStream stream = stream_of(read_whole(streams.front()));
  EXPECT_EQ(play_with_reports(stream, xla_gpu::Version::classic).log, read_whole(path));
}

}  // namespace
}  // namespace hbmscope::allocator
