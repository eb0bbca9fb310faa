#include "allocator/reference/catalog/jax_settings.h"
#include "tests/sizes.h"

#include <vector>

#include <gtest/gtest.h>

namespace hbmscope::allocator {
namespace {

using xla_gpu::Version;

JaxMemory memory_of(const std::vector<Setting>& settings, Version version = Version::spatial_v1,
                    std::uint64_t device_bytes = 80 * gib) {
  const auto memory = memory_from_settings(settings, device_bytes, version);
  if (memory) return *memory;
  ADD_FAILURE() << memory.error();
  return {};
}

template <class Options = xla_gpu::Options>
Options options_of(const std::vector<Setting>& settings, Version version = Version::spatial_v1) {
  const JaxMemory memory = memory_of(settings, version);
  if (const auto* options = std::get_if<Options>(&memory.options)) return *options;
  ADD_FAILURE() << "another allocator: " << name_of(memory.options);
  return {};
}

std::string fault_of(const std::vector<Setting>& settings, Version version = Version::spatial_v1) {
  const auto memory = memory_from_settings(settings, 80 * gib, version);
  return memory ? std::string() : memory.error();
}

TEST(JaxSettings, three_quarters_of_the_device_are_claimed_at_once) {
  const JaxMemory memory = memory_of({});
  const auto options = options_of({});
  EXPECT_EQ(options.limit_bytes, 60 * gib);
  EXPECT_FALSE(options.allow_growth);
  EXPECT_EQ(options.version, Version::spatial_v1);
  EXPECT_EQ(memory.granularity, std::uint64_t{2} << 20);
  EXPECT_EQ(memory.collective_limit_bytes, 0U);  // It is the upper end.
}

TEST(JaxSettings, the_fraction_is_a_float32_and_the_limit_a_multiple_of_2_mib) {
  // .9 is 0.899999976158142: 77309409280 bytes, rounded up.
  EXPECT_EQ(options_of({{"XLA_CLIENT_MEM_FRACTION", ".9"}}).limit_bytes, 77309411328U);
  EXPECT_EQ(options_of({{"XLA_PYTHON_CLIENT_MEM_FRACTION", "0.5"}}).limit_bytes, 40 * gib);
  EXPECT_EQ(options_of({{"XLA_CLIENT_MEM_FRACTION", ".9"}}, Version::classic).limit_bytes, 77309409280U);
  EXPECT_EQ(memory_of({}, Version::classic).granularity, 1U);
}

TEST(JaxSettings, preallocation_is_switched_off_by_three_spellings_only) {
  for (const char* text : {"false", "False", "0"}) {
    const auto options = options_of({{"XLA_PYTHON_CLIENT_PREALLOCATE", text}});
    EXPECT_TRUE(options.allow_growth) << text;
    EXPECT_EQ(options.version, Version::classic_align) << text;  // Two ends need one region.
  }
  for (const char* text : {"true", "FALSE", "no", "1", ""})
    EXPECT_FALSE(options_of({{"XLA_PYTHON_CLIENT_PREALLOCATE", text}}).allow_growth) << text;
}

TEST(JaxSettings, partitioning_is_switched_off_by_a_flag_the_last_one_counts) {
  const std::string flag = "--xla_gpu_enable_allocator_spatial_partitioning=";
  EXPECT_EQ(options_of({{"XLA_FLAGS", "--xla_dump_to=x " + flag + "false"}}).version, Version::classic_align);
  EXPECT_EQ(options_of({{"XLA_FLAGS", flag + "false " + flag + "true"}}).version, Version::spatial_v1);
  EXPECT_EQ(options_of({{"XLA_FLAGS", flag + "false"}}, Version::classic).version, Version::classic);
}

TEST(JaxSettings, the_allocator_is_chosen_by_its_name) {
  const char* name = "XLA_PYTHON_CLIENT_ALLOCATOR";
  EXPECT_EQ(options_of({{name, "BFC"}}).limit_bytes, 60 * gib);
  EXPECT_EQ(options_of<platform::Options>({{name, "platform"}}).granularity_bytes, std::uint64_t{2} << 20);
  EXPECT_EQ(options_of<platform::Options>({{name, "address"}}).granularity_bytes, std::uint64_t{2} << 20);
  EXPECT_EQ(options_of<platform::Options>({{name, "platform"}}, Version::classic).granularity_bytes, 512U);
  const auto pool = options_of<cuda_async::Options>({{name, "cuda_async"}});
  EXPECT_EQ(pool.reserved_bytes, 60 * gib);
  EXPECT_EQ(pool.release_threshold_bytes, 60 * gib);
  EXPECT_EQ(
      options_of<cuda_async::Options>({{name, "cuda_async"}, {"XLA_PYTHON_CLIENT_PREALLOCATE", "0"}}).reserved_bytes,
      0U);
  EXPECT_EQ(options_of<vmm::Options>({{name, "vmm"}}).limit_bytes, 60 * gib);
  EXPECT_EQ(options_of<vmm::Options>({{name, "vmm"}, {"XLA_CLIENT_MEM_FRACTION", ".3"}}).limit_bytes,
            25769804800U);  // 80 GiB times float(.3), cut off.
}

TEST(JaxSettings, collective_memory_has_a_pool_of_its_own_unless_there_are_two_ends) {
  const char* size = "XLA_PYTHON_CLIENT_COLLECTIVE_MEM_SIZE_MB";
  EXPECT_EQ(memory_of({{"XLA_PYTHON_CLIENT_PREALLOCATE", "false"}}).collective_limit_bytes, 20 * gib);
  const JaxMemory sized = memory_of({{size, "512"}}, Version::classic);
  EXPECT_EQ(sized.collective_limit_bytes, gib / 2);
  EXPECT_TRUE(sized.is_collective_preallocated);
  const JaxMemory spatial = memory_of({{size, "512"}});
  EXPECT_EQ(spatial.collective_limit_bytes, 0U);
  EXPECT_EQ(spatial.notes.size(), 1U);  // It has no effect, and that is said.
}

TEST(JaxSettings, unified_memory_may_be_more_than_the_device_has) {
  const JaxMemory memory = memory_of({{"TF_FORCE_UNIFIED_MEMORY", "TRUE"}, {"XLA_CLIENT_MEM_FRACTION", "1.5"}});
  EXPECT_TRUE(memory.is_unified);
  EXPECT_EQ(std::get<xla_gpu::Options>(memory.options).limit_bytes, 120 * gib);
  // A fraction below 1 has no effect then.
  EXPECT_EQ(options_of({{"TF_FORCE_UNIFIED_MEMORY", "1"}}).limit_bytes, 80 * gib);
  const JaxMemory odd = memory_of({{"TF_FORCE_UNIFIED_MEMORY", "yes"}});
  EXPECT_FALSE(odd.is_unified);
  EXPECT_EQ(odd.notes.size(), 1U);
}

TEST(JaxSettings, create_options_are_texts_and_go_over_the_others) {
  const char* name = "JAX_PJRT_CLIENT_CREATE_OPTIONS";
  options_of<platform::Options>({{"XLA_PYTHON_CLIENT_ALLOCATOR", "bfc"}, {name, "allocator:platform"}});
  EXPECT_NE(fault_of({{name, "memory_fraction:.5"}}).find("is no text"), std::string::npos);
  EXPECT_NE(fault_of({{name, "fraction:.5"}}).find("knows no 'fraction'"), std::string::npos);
  EXPECT_NE(fault_of({{name, "allocator"}}).find("RuntimeError"), std::string::npos);
  EXPECT_NE(fault_of({{name, "allocator:best"}}).find("not supported by the plugin"), std::string::npos);
}

TEST(JaxSettings, what_jax_would_refuse_is_refused_with_the_reason) {
  EXPECT_NE(fault_of({{"XLA_CLIENT_MEM_FRACTION", ".9"}, {"XLA_PYTHON_CLIENT_MEM_FRACTION", ".9"}}).find("together"),
            std::string::npos);
  for (const char* text : {"abc", ".9x", "0x1"})
    EXPECT_NE(fault_of({{"XLA_CLIENT_MEM_FRACTION", text}}).find("could not convert"), std::string::npos) << text;
  EXPECT_NE(fault_of({{"XLA_CLIENT_MEM_FRACTION", "abc"}}).find("CPU"), std::string::npos);
  for (const char* text : {"0", "-1", "nan", "inf"})
    EXPECT_NE(fault_of({{"XLA_CLIENT_MEM_FRACTION", text}}).find("leaves no pool"), std::string::npos) << text;
  EXPECT_NE(fault_of({{"XLA_CLIENT_MEM_FRACTION", "1.2"}}).find("TF_FORCE_UNIFIED_MEMORY"), std::string::npos);
  EXPECT_NE(fault_of({{"XLA_PYTHON_CLIENT_ALLOCATOR", "cuda_malloc_async"}}).find("must be one of"), std::string::npos);
  EXPECT_NE(fault_of({{"XLA_PYTHON_CLIENT_ALLOCATOR", "address"}}, Version::classic).find("\"vmm\""),
            std::string::npos);
  EXPECT_NE(fault_of({{"XLA_FLAGS", "--xla_dump_to=x"}}).find("XLA_FLAGS"), std::string::npos);
  EXPECT_NE(fault_of({{"TF_GPU_ALLOCATOR", "cuda_malloc_async"}}).find("unknown setting"), std::string::npos);
}

xla_gpu::Options other_pool(decltype(&collective_memory_from_settings) memory_of, std::vector<Setting> settings,
                            Version version = Version::spatial_v1) {
  const auto memory = memory_of(settings, 80 * gib, version);
  EXPECT_TRUE(memory) << memory.error();
  return std::get<xla_gpu::Options>(memory->options);
}

TEST(JaxSettings, the_collective_pool_is_what_the_other_one_leaves_or_what_is_said) {
  const auto pool = other_pool(collective_memory_from_settings, {{"XLA_PYTHON_CLIENT_PREALLOCATE", "false"}});
  EXPECT_EQ(pool.pool, xla_gpu::Pool::collective);
  EXPECT_EQ(pool.version, Version::classic_align);
  EXPECT_TRUE(pool.allow_growth);
  EXPECT_EQ(pool.limit_bytes, 20 * gib);
  const auto sized = other_pool(collective_memory_from_settings, {{"XLA_PYTHON_CLIENT_COLLECTIVE_MEM_SIZE_MB", "512"}},
                                Version::classic);
  EXPECT_FALSE(sized.allow_growth);
  EXPECT_EQ(sized.limit_bytes, gib / 2);
  const std::vector<Setting> none, platform = {{"XLA_PYTHON_CLIENT_ALLOCATOR", "platform"}};
  EXPECT_NE(collective_memory_from_settings(none, 80 * gib, Version::spatial_v1).error().find("two ends"),
            std::string::npos);
  EXPECT_NE(collective_memory_from_settings(platform, 80 * gib, Version::spatial_v1).error().find("no pool"),
            std::string::npos);
}

TEST(JaxSettings, the_pinned_pool_grows_to_64_gib_or_is_claimed_at_once) {
  const auto pool = other_pool(pinned_memory_from_settings, {});
  EXPECT_EQ(pool.pool, xla_gpu::Pool::pinned_host);
  EXPECT_TRUE(pool.allow_growth);
  EXPECT_EQ(pool.limit_bytes, 64 * gib);
  const char* limit = "XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB";
  const char* at_once = "XLA_PJRT_GPU_HOST_MEMORY_PREALLOCATE";
  EXPECT_EQ(other_pool(pinned_memory_from_settings, {{at_once, "true"}}).limit_bytes, 16 * gib);
  EXPECT_FALSE(other_pool(pinned_memory_from_settings, {{at_once, "1"}}).allow_growth);
  EXPECT_EQ(other_pool(pinned_memory_from_settings, {{limit, "5"}, {at_once, "1"}}).limit_bytes, 5 * gib);
  EXPECT_EQ(other_pool(pinned_memory_from_settings, {{limit, "5GB"}}).limit_bytes, 64 * gib);
  const std::vector<Setting> nothing = {{limit, "0"}};
  EXPECT_FALSE(pinned_memory_from_settings(nothing, 80 * gib, Version::classic));
}

}  // namespace
}  // namespace hbmscope::allocator
