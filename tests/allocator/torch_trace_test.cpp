// Every trace of PyTorch's real allocator in the folder of real data: operation by operation, line by line.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/read/gzip.h"
#include "tests/allocator/torch_replay.h"

namespace hbmscope::allocator {
namespace {

std::filesystem::path traces_folder() {
  const char* named = std::getenv("HBMSCOPE_DATA");
  return std::filesystem::path(named != nullptr ? named : "../shared/data") / "torch_native";
}

std::vector<std::filesystem::path> traces_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> traces;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("trace") && (name.ends_with(".tsv") || name.ends_with(".tsv.gz")))
      traces.push_back(entry.path());
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

tl::expected<TorchComparison, std::string> compare_with_model(std::string_view text) {
  const auto trace = read_torch_trace(text);
  if (!trace) return tl::unexpected(trace.error());
  auto options = pytorch::options_from_conf(trace->conf, trace->fraction);
  if (!options) return tl::unexpected(options.error());
  options->device_bytes = trace->device_bytes;
  return TorchReplay(*trace, *options).run();
}

TEST(TorchTraces, are_repeated_line_by_line) {
  const auto traces = traces_below(traces_folder());
  if (traces.empty()) GTEST_SKIP() << "no traces in " << traces_folder() << " (HBMSCOPE_DATA names the folder)";
  for (const auto& path : traces) {
    SCOPED_TRACE(path.string());
    const auto bytes = read_file(path.string(), std::uint64_t{1} << 32);
    ASSERT_TRUE(bytes) << bytes.error().text();
    ImportStatistics import;
    const auto text = unzip(bytes->bytes(), path.string(), std::uint64_t{1} << 32, import);
    ASSERT_TRUE(text) << text.error().text();
    const auto result = compare_with_model({reinterpret_cast<const char*>(text->bytes.data()), text->bytes.size()});
    ASSERT_TRUE(result) << result.error();
    fmt::print("{}: {} operations, {} comparisons ({} frees completed as recorded), {} differences\n",
               path.filename().string(), result->operations, result->lines, result->early_completions,
               result->differences);
    for (const std::string& difference : result->first_differences) ADD_FAILURE() << difference;
    EXPECT_EQ(result->differences, 0U);
  }
}

}  // namespace
}  // namespace hbmscope::allocator
