// A trace whose events have no room in memory answers as one that has it all.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "analysis/read/recording/growing_trace.h"
#include "analysis/write/recording.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope {
namespace {

constexpr std::uint64_t memory_max = 300'000;

class SpilledTrace : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("hbmscope-spill-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    std::filesystem::remove_all(folder_);
  }

  // Adds the same blocks to both: that many events of an allocator with some thousand live blocks.
  void grow(int events) {
    wire::StreamWriter writer(0, [this](const wire::SharedBlock& block) {
      all.take(block);
      spilled.take(block);
    });
    wire::HeapRecord heap;
    heap.flags = wire::heap_flag::has_addresses | wire::heap_flag::is_complete_at_start;
    const std::uint32_t id = writer.define_heap(heap, "pool", "device");
    std::mt19937_64 source(7);
    std::vector<std::uint64_t> live;
    for (int i = 0; i < events; ++i) {
      if (live.size() > 3000 || (!live.empty() && source() % 2 == 0)) {
        const std::size_t which = source() % live.size();
        writer.free(id, live[which], 0, 0, i * 1000);
        live[which] = live.back();
        live.pop_back();
      } else {
        wire::AllocRecord block;
        block.heap = id;
        block.address = (source() % 1'000'000 + 1) << 20;
        block.size = 256 + source() % 1'000'000;
        if (std::find(live.begin(), live.end(), block.address) != live.end()) continue;
        writer.alloc(block, i * 1000);
        live.push_back(block.address);
      }
      if (i % 5000 == 0) writer.flush();
    }
    writer.flush();
  }

  std::filesystem::path folder_;
  GrowingTrace all{"all"}, spilled{"spilled"};
};

TEST_F(SpilledTrace, AnswersAsOneThatIsInMemory) {
  spilled.set_memory_max(memory_max);
  grow(600'000);
  EXPECT_EQ(spilled.file_fault(), "");
  EXPECT_EQ(spilled.bad_blocks(), 0U);
  EXPECT_GT(spilled.file_bytes(), memory_max);
  EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "the file has no name";
  const auto a = all.version(), b = spilled.version();
  const Stream &whole = a->streams[0], &away = b->streams[0];
  ASSERT_EQ(whole.end_position(), away.end_position());
  EXPECT_GT(whole.memory_bytes(), 3 * away.memory_bytes());
  std::mt19937_64 source(3);
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t at = i == 0 ? whole.end_position() : source() % whole.end_position();
    const StreamState x = whole.state_at(at), y = away.state_at(at);
    EXPECT_EQ(x.in_use_bytes(1), y.in_use_bytes(1)) << at;
    EXPECT_EQ(x.heap(1).live_blocks, y.heap(1).live_blocks) << at;
    EXPECT_EQ(x.heap(1).space.largest_free(), y.heap(1).space.largest_free()) << at;
  }
  EXPECT_EQ(whole.position_of_time(123'456'789), away.position_of_time(123'456'789));
  EXPECT_EQ(whole.peak(1).in_use_bytes, away.peak(1).in_use_bytes);
  // And is saved as it was.
  ASSERT_TRUE(write_recording(*a, folder_ / "a.hbm"));
  ASSERT_TRUE(write_recording(*b, folder_ / "b.hbm"));
  const auto bytes_of = [&](const char* name) {
    std::ifstream file(folder_ / name, std::ios::binary);
    file.seekg(64);  // The header says when it was begun.
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(bytes_of("a.hbm"), bytes_of("b.hbm"));
}

TEST_F(SpilledTrace, WithoutAFileItStaysInMemoryAndSaysSo) {
  spilled.set_memory_max(memory_max);
  setenv("TMPDIR", (folder_ / "missing").c_str(), 1);
  grow(200'000);
  EXPECT_NE(spilled.file_fault().find("missing"), std::string::npos) << spilled.file_fault();
  EXPECT_EQ(spilled.file_bytes(), 0U);
  EXPECT_EQ(spilled.version()->streams[0].state_at(100'000).in_use_bytes(1),
            all.version()->streams[0].state_at(100'000).in_use_bytes(1));
}

// As on a failing disk: the heap is reported as inexact, and nothing stops.
TEST_F(SpilledTrace, WhatCantBeReadBackIsToldOfTheHeap) {
  spilled.set_memory_max(memory_max);
  grow(600'000);
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const std::string target = std::filesystem::read_symlink(one.path(), ignored).string();
    if (target.find(folder_.string()) != 0) continue;
    ASSERT_EQ(0, truncate(one.path().c_str(), 0)) << target;
  }
  const auto trace = spilled.version();
  const Stream& stream = trace->streams[0];
  std::mt19937_64 source(3);
  std::size_t inexact = 0;
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t at = source() % stream.end_position();
    const StreamState state = stream.state_at(at);
    EXPECT_EQ(at, state.position());
    if (state.heap(1).is_inexact)
      ++inexact;
    else
      EXPECT_EQ(all.version()->streams[0].state_at(at).in_use_bytes(1), state.in_use_bytes(1)) << at;
  }
  EXPECT_GT(inexact, 10U);
  EXPECT_EQ("it could not be read back", spilled.file_fault());
}

TEST_F(SpilledTrace, AFileThatMayNotGrowDoesNotEndTheProcess) {
  spilled.set_memory_max(memory_max);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{100'000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  grow(400'000);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_NE(spilled.file_fault().find("ulimit -f"), std::string::npos) << spilled.file_fault();
  EXPECT_LE(spilled.file_bytes(), 100'000U);
  for (const std::uint64_t at : {10'000U, 200'000U, 390'000U})
    EXPECT_EQ(spilled.version()->streams[0].state_at(at).in_use_bytes(1),
              all.version()->streams[0].state_at(at).in_use_bytes(1));
}

TEST_F(SpilledTrace, WithoutALimitNothingIsPutAway) {
  grow(200'000);
  EXPECT_EQ(spilled.file_bytes(), 0U);
  EXPECT_EQ(spilled.version()->streams[0].memory_bytes(), all.version()->streams[0].memory_bytes());
}

}  // namespace
}  // namespace hbmscope
