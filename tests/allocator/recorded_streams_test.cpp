// Every stream of requests that the original answered, in the folder of real data: bit for bit.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "allocator/reference/replay/check.h"
#include "analysis/read/file_bytes.h"
#include "analysis/read/requests/read_requests.h"

namespace hbmscope::allocator {
namespace {

std::filesystem::path data_folder() {
  const char* named = std::getenv("HBMSCOPE_DATA");
  return std::filesystem::path(named != nullptr ? named : "../shared/data") / "bfc";
}

std::vector<std::filesystem::path> streams_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> streams;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst")))
      streams.push_back(entry.path());
  }
  std::sort(streams.begin(), streams.end());
  return streams;
}

TEST(RecordedStreams, agree_with_the_original_answer_by_answer) {
  const auto streams = streams_below(data_folder());
  if (streams.empty())
    GTEST_SKIP() << "no recorded streams in " << data_folder() << " (HBMSCOPE_DATA names the folder)";
  for (const auto& path : streams) {
    SCOPED_TRACE(path.string());
    const auto bytes = read_file(path.string(), std::uint64_t{1} << 32);
    ASSERT_TRUE(bytes) << bytes.error().text();
    const auto read = read_requests(bytes->bytes(), path.string(), std::uint64_t{1} << 32);
    ASSERT_TRUE(read) << read.error().text();
    const RequestStream& stream = read->stream;
    const bool is_v2 = path.parent_path().filename() == "spatial_v2";
    const auto result =
        check(stream, options_of(stream.config, is_v2 ? xla_gpu::Version::spatial_v2 : version_of(stream.config)));
    if (result.difference)
      ADD_FAILURE() << "line " << result.difference->line << ": " << result.difference->what << ": recorded "
                    << result.difference->recorded << ", replayed " << result.difference->replayed;
    EXPECT_EQ(result.answers, stream.operations.size());
    EXPECT_EQ(result.without_answer, 0U);
    EXPECT_GT(result.states, 0U);
    EXPECT_TRUE(result.unknown_names.empty()) << *result.unknown_names.begin();
    EXPECT_TRUE(read->unknown_config.empty()) << read->unknown_config.front();
  }
}

}  // namespace
}  // namespace hbmscope::allocator
