#include "allocator/reference/libraries/hbmscope_allocator.h"
#include "tests/sizes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

using hbmscope::gib;

namespace {

hbmscope_allocator_options options_of(const char* name) {
  hbmscope_allocator_options options{};
  options.struct_size = sizeof(options);
  options.allocator = name;
  options.device_bytes = gib;
  return options;
}

std::string fault_of(const hbmscope_allocator_options* options) {
  char error[200] = "nothing";
  hbmscope_allocator* made = hbmscope_allocator_create(options, error, sizeof(error));
  EXPECT_EQ(made, nullptr);
  hbmscope_allocator_destroy(made);
  return error;
}

hbmscope_request request_of(std::uint64_t bytes) {
  return {bytes, 0, 0, 0};
}

TEST(AllocatorC, all_allocators_serve_and_take_back) {
  for (const auto& [name, certainty] :
       {std::pair("xla_gpu", "checked"), std::pair("platform", "approximate"), std::pair("cuda_async", "approximate"),
        std::pair("pytorch", "checked"), std::pair("naive", "exact")}) {
    const auto options = options_of(name);
    hbmscope_allocator* allocator = hbmscope_allocator_create(&options, nullptr, 0);
    ASSERT_NE(allocator, nullptr);
    EXPECT_STREQ(hbmscope_allocator_certainty(allocator), certainty);
    std::uint64_t address = 0, bytes = 0;
    auto request = request_of(1000);
    EXPECT_EQ(hbmscope_allocator_allocate(allocator, &request, &address, &bytes), HBMSCOPE_ALLOCATED);
    EXPECT_GE(bytes, 1000U);
    hbmscope_statistics statistics{};
    hbmscope_allocator_statistics(allocator, &statistics);
    EXPECT_EQ(statistics.in_use_bytes, bytes);
    std::vector<hbmscope_pool_block> pieces(8);
    pieces.resize(hbmscope_allocator_blocks(allocator, pieces.data(), pieces.size()));
    // The newest version of xla_gpu begins at the pool's upper end, so its free memory is listed first.
    const auto piece =
        std::find_if(pieces.begin(), pieces.end(), [&](const auto& one) { return one.address == address; });
    ASSERT_NE(piece, pieces.end());
    EXPECT_EQ(piece->requested_bytes, 1000U);
    EXPECT_EQ(hbmscope_allocator_free(allocator, address), 1);
    EXPECT_EQ(hbmscope_allocator_free(allocator, address), 0);
    request = request_of(0);
    EXPECT_EQ(hbmscope_allocator_allocate(allocator, &request, &address, &bytes), HBMSCOPE_ZERO_BYTES);
    request = request_of(2 * gib);
    EXPECT_EQ(hbmscope_allocator_allocate(allocator, &request, &address, &bytes), HBMSCOPE_OUT_OF_MEMORY);
    hbmscope_allocator_destroy(allocator);
  }
}

TEST(AllocatorC, settings_choose_as_jax_does) {
  auto options = options_of(nullptr);
  const char* settings[] = {"XLA_CLIENT_MEM_FRACTION=.5", "XLA_PYTHON_CLIENT_PREALLOCATE=true"};
  options.settings = settings;
  options.setting_count = 2;
  hbmscope_allocator* allocator = hbmscope_allocator_create(&options, nullptr, 0);
  ASSERT_NE(allocator, nullptr);
  hbmscope_statistics statistics{};
  hbmscope_allocator_statistics(allocator, &statistics);
  EXPECT_EQ(statistics.limit_bytes, gib / 2);
  hbmscope_allocator_destroy(allocator);
}

TEST(AllocatorC, what_can_t_be_made_says_why) {
  EXPECT_EQ(fault_of(nullptr), "there are no options");
  auto options = options_of("best");
  EXPECT_NE(fault_of(&options).find("there is no allocator 'best'"), std::string::npos);
  options = options_of("xla_gpu");
  options.struct_size = 8;
  EXPECT_NE(fault_of(&options).find("another version"), std::string::npos);
  options = options_of("xla_gpu");
  options.version = "newest";
  EXPECT_NE(fault_of(&options).find("no version 'newest'"), std::string::npos);
  options = options_of("pytorch");
  options.device_bytes = 0;
  EXPECT_NE(fault_of(&options).find("more than 0"), std::string::npos);
  const char* nothing = "XLA_FLAGS";
  options = options_of(nullptr);
  options.settings = &nothing;
  options.setting_count = 1;
  EXPECT_EQ(fault_of(&options), "'XLA_FLAGS' is not NAME=VALUE");
  char error[8];
  EXPECT_EQ(hbmscope_allocator_create(&options, error, sizeof(error)), nullptr);
  EXPECT_STREQ(error, "'XLA_FL");
}

// Memory supplied by the program: tracks what is currently claimed.
struct Given {
  std::map<std::uint64_t, std::uint64_t> out;
  std::uint64_t next = 1 << 20;
};
int claim(void* context, std::uint64_t bytes, std::uint64_t* address, std::uint64_t* given_bytes) {
  auto& given = *static_cast<Given*>(context);
  if (bytes > gib) return 0;
  *address = given.next;
  *given_bytes = bytes;
  given.out[*address] = bytes;
  given.next += (bytes + (1 << 20)) / (1 << 20) * (1 << 20);
  return 1;
}
void release(void* context, std::uint64_t address, std::uint64_t bytes) {
  auto& given = *static_cast<Given*>(context);
  EXPECT_EQ(given.out[address], bytes);
  given.out.erase(address);
}

TEST(AllocatorC, memory_comes_from_the_program_and_goes_back_to_it) {
  Given given;
  const hbmscope_upstream upstream = {&given, claim, release};
  auto options = options_of("pytorch");
  options.upstream = &upstream;
  const char* expandable = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
  options.settings = &expandable;
  options.setting_count = 1;
  EXPECT_NE(fault_of(&options).find("reserved addresses"), std::string::npos);
  options.setting_count = 0;
  hbmscope_allocator* allocator = hbmscope_allocator_create(&options, nullptr, 0);
  ASSERT_NE(allocator, nullptr);
  std::uint64_t address = 0, bytes = 0;
  const auto request = request_of(3 << 20);
  EXPECT_EQ(hbmscope_allocator_allocate(allocator, &request, &address, &bytes), HBMSCOPE_ALLOCATED);
  EXPECT_EQ(given.out.size(), 1U);
  EXPECT_EQ(given.out.begin()->second, 20U << 20);
  hbmscope_allocator_destroy(allocator);
  EXPECT_TRUE(given.out.empty());
}

TEST(AllocatorC, threads_may_call_at_once) {
  const auto options = options_of("xla_gpu");
  hbmscope_allocator* allocator = hbmscope_allocator_create(&options, nullptr, 0);
  ASSERT_NE(allocator, nullptr);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const auto request = request_of(static_cast<std::uint64_t>(100 + i));
        std::uint64_t address = 0, bytes = 0;
        ASSERT_EQ(hbmscope_allocator_allocate(allocator, &request, &address, &bytes), HBMSCOPE_ALLOCATED);
        ASSERT_EQ(hbmscope_allocator_free(allocator, address), 1);
      }
    });
  for (std::thread& thread : threads) thread.join();
  hbmscope_statistics statistics{};
  hbmscope_allocator_statistics(allocator, &statistics);
  EXPECT_EQ(statistics.allocations, 8000U);
  EXPECT_EQ(statistics.in_use_bytes, 0U);
  hbmscope_allocator_destroy(allocator);
}

}  // namespace
