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

// Written by hand. A block is freed that another stream uses for 50 ticks, then the device is full.
constexpr std::string_view small_trace =
    "# torch 2.9.1 kind small seed 0 conf  fraction 1 device_bytes 4194304 base 600000000000\n"
    "o\tA\t1000\t0\n"
    "d\tmalloc\t0\t2097152\t600000000000\n"
    "e\tSEGMENT_ALLOC\t600000000000\t2097152\t0\t0,0\n"
    "e\tALLOC\t600000000000\t1000\t0\t0,0\n"
    "h\t600000000000\t1024\t1024\t2097152\n"
    "o\t=\t600000000000\n"
    "o\tW\t1\t50\n"
    "o\tR\t600000000000\t1\n"
    "o\tF\t600000000000\n"
    "e\tFREE_REQUESTED\t600000000000\t1000\t0\t0,0\n"
    "h\t600000000000\t-1024\t0\t2097152\n"
    "S\t600000000000\t2097152\t0\t0\t0\t0,0\n"
    "B\t600000000000\t1024\t1000\t0\t1\n"
    "B\t600000000400\t2096128\t0\t0\t0\n"
    "t\talloc=0 reserved=2097152 active=1024 requested=1000 inactive_split=2096128 retries=0 ooms=0 peak_alloc=1024 "
    "peak_reserved=2097152\n"
    "o\tT\t50\n"
    "o\tA\t3000000\t0\n"
    "e\tFREE_COMPLETED\t600000000000\t1000\t0\t0,0\n"
    "d\tmalloc_oom\t0\t20971520\n"
    "e\tSEGMENT_FREE\t600000000000\t2097152\t0\t0,0\n"
    "d\tfree\t600000000000\n"
    "d\tmalloc_oom\t0\t20971520\n"
    "e\tOOM\t400000\t3000320\t0\t0,0\n"
    "h\tOOM\t3000320\t0\t0\n"
    "o\t=\tOOM\n";

TEST(TorchTraces, a_small_one_agrees_and_a_changed_one_does_not) {
  const auto result = compare_with_model(small_trace);
  ASSERT_TRUE(result) << result.error();
  EXPECT_EQ(result->operations, 6U);
  EXPECT_EQ(result->lines, 19U);
  EXPECT_EQ(result->differences, 0U);
  std::string changed(small_trace);
  changed.replace(changed.find("T\t50"), 4, "T\t49");
  const auto early = compare_with_model(changed);
  ASSERT_TRUE(early);
  EXPECT_GT(early->differences, 0U);
  EXPECT_FALSE(compare_with_model("o\tT\t50\n"));
  EXPECT_FALSE(compare_with_model(std::string(small_trace) + "x\t1\n"));
}

}  // namespace
}  // namespace hbmscope::allocator
