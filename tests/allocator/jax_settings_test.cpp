#include "allocator/jax/settings.h"

#include <vector>

#include <gtest/gtest.h>

namespace hbmscope::allocator {
namespace {

using xla_gpu::Version;

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

JaxPool pool_of(const std::vector<Setting>& settings, Version version = Version::spatial_v1,
                std::uint64_t device_bytes = 80 * gib) {
  const auto pool = pool_from_settings(settings, device_bytes, version);
  if (pool) return *pool;
  ADD_FAILURE() << pool.error();
  return {};
}

TEST(JaxSettings, three_quarters_of_the_device_are_claimed_at_once) {
  const JaxPool pool = pool_of({});
  EXPECT_EQ(pool.options.limit_bytes, 60 * gib);
  EXPECT_FALSE(pool.options.allow_growth);
  EXPECT_EQ(pool.options.version, Version::spatial_v1);
  EXPECT_EQ(pool.granularity, std::uint64_t{2} << 20);
}

TEST(JaxSettings, the_fraction_is_a_float32_and_the_limit_a_multiple_of_2_mib) {
  // .9 is 0.899999976158142: 77309409280 bytes, rounded up.
  EXPECT_EQ(pool_of({{"XLA_CLIENT_MEM_FRACTION", ".9"}}).options.limit_bytes, 77309411328U);
  EXPECT_EQ(pool_of({{"XLA_PYTHON_CLIENT_MEM_FRACTION", "0.5"}}).options.limit_bytes, 40 * gib);
  EXPECT_EQ(pool_of({{"XLA_CLIENT_MEM_FRACTION", ".9"}}, Version::classic).options.limit_bytes, 77309409280U);
  EXPECT_EQ(pool_of({}, Version::classic).granularity, 1U);
}

TEST(JaxSettings, preallocation_is_switched_off_by_three_spellings_only) {
  for (const char* text : {"false", "False", "0"}) {
    const JaxPool pool = pool_of({{"XLA_PYTHON_CLIENT_PREALLOCATE", text}});
    EXPECT_TRUE(pool.options.allow_growth) << text;
    EXPECT_EQ(pool.options.version, Version::classic_align) << text;  // Two ends need one region.
  }
  for (const char* text : {"true", "FALSE", "no", "1"})
    EXPECT_FALSE(pool_of({{"XLA_PYTHON_CLIENT_PREALLOCATE", text}}).options.allow_growth) << text;
}

TEST(JaxSettings, partitioning_is_switched_off_by_a_flag_the_last_one_counts) {
  const std::string flag = "--xla_gpu_enable_allocator_spatial_partitioning=";
  EXPECT_EQ(pool_of({{"XLA_FLAGS", "--xla_dump_to=x " + flag + "false"}}).options.version, Version::classic_align);
  EXPECT_EQ(pool_of({{"XLA_FLAGS", flag + "false " + flag + "true"}}).options.version, Version::spatial_v1);
  EXPECT_EQ(pool_of({{"XLA_FLAGS", flag + "false"}}, Version::classic).options.version, Version::classic);
}

TEST(JaxSettings, what_jax_would_refuse_is_refused_with_the_reason) {
  const auto fault = [](const std::vector<Setting>& settings) {
    const auto pool = pool_from_settings(settings, 80 * gib, Version::spatial_v1);
    return pool ? std::string() : pool.error();
  };
  EXPECT_NE(fault({{"XLA_CLIENT_MEM_FRACTION", ".9"}, {"XLA_PYTHON_CLIENT_MEM_FRACTION", ".9"}}).find("both set"),
            std::string::npos);
  for (const char* text : {"", "abc", ".9x", "0", "-1", "nan"})
    EXPECT_NE(fault({{"XLA_CLIENT_MEM_FRACTION", text}}).find("no fraction"), std::string::npos) << text;
  EXPECT_NE(fault({{"XLA_CLIENT_MEM_FRACTION", "1.2"}}).find("unified memory"), std::string::npos);
  EXPECT_NE(fault({{"XLA_PYTHON_CLIENT_ALLOCATOR", "platform"}}).find("not known here"), std::string::npos);
  EXPECT_NE(fault({{"XLA_FLAGS", "--xla_dump_to=x"}}).find("XLA_FLAGS"), std::string::npos);
}

}  // namespace
}  // namespace hbmscope::allocator
