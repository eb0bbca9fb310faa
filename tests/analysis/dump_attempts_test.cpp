// Memory dumps of one failure: several files, one heap.
#include "analysis/read/bfc/read_memory_dump.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "analysis/query/heap_rows.h"
#include "analysis/read/source/profile_folder.h"
#include "analysis/read/source/read_source.h"
#include "tests/analysis/proto_message.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

using bfc::find_attempts;
using bfc::time_us_of_dump;

bfc::Dump dump_of(std::initializer_list<std::uint64_t> places, std::uint64_t allocations = 10,
                  const char* allocator = "GPU_0_bfc") {
  bfc::Dump dump;
  dump.allocator = allocator;
  dump.allocations = allocations;
  bfc::Region& region = dump.regions.emplace_back();
  for (const std::uint64_t place : places) {
    bfc::Chunk& chunk = region.chunks.emplace_back();
    chunk.address = place * mib;
    chunk.size = mib;
    chunk.is_in_use = true;
  }
  return dump;
}

TEST(DumpAttempts, the_time_is_the_ending_of_the_name) {
  EXPECT_EQ(time_us_of_dump("out/dump_GPU_0_bfc.1764229730123456"), 1'764'229'730'123'456);
  EXPECT_EQ(time_us_of_dump("dump_GPU_0_bfc.1764229730123456.zst"), 1'764'229'730'123'456);
  for (const char* name : {"dump.pb", "1764229730123456", "a.176422973012345", "a.17642297301234567",
                           "a.1764x29730123456", "a.-764229730123456", ""})
    EXPECT_FALSE(time_us_of_dump(name)) << name;
}

TEST(DumpAttempts, are_of_one_failure_if_they_follow_soon_and_hold_the_same) {
  const bfc::Dump first = dump_of({1, 2, 3, 4}), second = dump_of({1, 2, 3}, 12), other = dump_of({11, 12, 13});
  const bfc::Dump earlier = dump_of({1, 2, 3, 4}, 5), device_1 = dump_of({1, 2, 3, 4}, 10, "GPU_1_bfc");
  const std::vector<bfc::NamedDump> dumps = {
      {"d_GPU_0_bfc.1764229730000000", &first},     // 0: the first attempt.
      {"d_GPU_0_bfc.1764229740100000", &second},    // 1: ten seconds later.
      {"d_GPU_0_bfc.1764229735000000", &other},     // 2: another process.
      {"d_GPU_1_bfc.1764229735000000", &device_1},  // 3: another device.
      {"d_GPU_0_bfc.1764229738000000", &earlier},   // 4: fewer allocations than before.
      {"d_GPU_0_bfc.1764229790000000", &second},    // 5: a minute later.
      {"r_GPU_0_bfc.1764229731000000", &first},     // 6: another prefix.
      {"renamed.pb", &first},                       // 7
  };
  const std::vector<std::vector<std::size_t>> expected = {{0, 1}, {2}, {3}, {4}, {5}, {6}, {7}};
  EXPECT_EQ(find_attempts(dumps), expected);
}

TEST(DumpAttempts, a_folder_of_them_is_one_failure_with_the_last_heap) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "dump_attempts";
  std::filesystem::create_directories(folder);
  for (int attempt = 0; attempt < 3; ++attempt) {
    tests::Message dump;
    dump.text(1, "GPU_0_bfc");
    for (std::uint64_t i = 0; i < 4 + static_cast<std::uint64_t>(attempt); ++i)
      dump.add(3, tests::Message().number(1, 0x10000000 + i * mib).number(2, mib).number(3, mib).number(8, 1));
    std::ofstream(folder / ("d_GPU_0_bfc.176422973" + std::to_string(attempt * 4) + "123456"), std::ios::binary)
        << dump.bytes;
  }
  SourceOptions options;
  options.keeps_pieces = true;
  std::vector<Source> sources;
  const auto files = find_profiles_in_folder(folder.string());
  ASSERT_TRUE(files) << files.error().text();
  for (const std::string& file : files->files) {
    auto source = read_source(file, options);
    ASSERT_TRUE(source) << source.error().text();
    sources.push_back(std::move(*source));
  }
  std::filesystem::remove_all(folder);
  ASSERT_EQ(sources.size(), 3U);
  const auto joined = join_pieces(std::move(sources), options);
  ASSERT_TRUE(joined);
  ASSERT_EQ(joined->size(), 1U);
  EXPECT_EQ(joined->front().files, (std::vector<std::size_t>{0, 1, 2}));
  const Source& source = joined->front().source;
  const auto rows = compute_heap_rows(*source.trace, source.states);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.front().in_use_bytes, 6 * mib);
  EXPECT_EQ(source.trace->import.count_of("earlier_attempts"), 2);
}

}  // namespace
}  // namespace hbmscope
