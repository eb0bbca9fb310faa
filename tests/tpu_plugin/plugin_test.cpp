// The emulated TPU by the calls that JAX makes, with a compiler that does what programs say.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "allocator/emulated/accounts/tpu_account.h"
#include "allocator/emulated/tpu/plugin/wire.h"
#include "tests/tpu_plugin/pretend_jax.h"
#include "tests/tpu_plugin/pretend_program.h"

namespace hbmscope::pretend {
namespace {

namespace fs = std::filesystem;
namespace tpu = allocator::tpu;

constexpr std::uint64_t mib = 1 << 20;
constexpr int resource_exhausted = 8, invalid_argument = 3, unimplemented = 12;

// Each test has a process, and so a client, of its own.
class TpuPlugin : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/tpu_plugin_XXXXXX";
    folder_ = mkdtemp(name.data());
    set("HBMSCOPE_TPU_LIBRARY", PRETEND_LIBTPU);
    set("HBMSCOPE_TPU_TOPOLOGY", "v5e:2x2");
    set("HBMSCOPE_TPU_HBM_BYTES", std::to_string(64 * mib));
    set("HBMSCOPE_DEVICE_REPORT", folder_);
    set("HBMSCOPE_TPU_CACHE", folder_ + "/cache");
  }
  void TearDown() override { fs::remove_all(folder_); }

  static void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }
  static Jax start() { return Jax(PLUGIN); }
  tpu::TpuAccount account() const { return tpu::read_tpu_accounts(folder_).at(0); }
  template <class Command>
  static Refusal refusal_of(const Command& act) {
    try {
      act();
    } catch (const Refusal& refusal) {
      return refusal;
    }
    return {0, "it was not refused"};
  }

  std::string folder_;
};

TEST_F(TpuPlugin, arrays_take_their_padded_size) {
  const Jax jax = start();
  EXPECT_EQ(jax.device_count(), 4u);
  pjrt::Buffer* array = jax.put({9, 100});
  EXPECT_EQ(jax.size(array), 16u * 128 * 4);
  EXPECT_EQ(jax.stats().in_use, 16 * 128 * 4);
  EXPECT_EQ(jax.stats(1).in_use, 0);
  EXPECT_EQ(account().devices[0].padding, (16u * 128 - 9 * 100) * 4);
  jax.free(array);
  EXPECT_EQ(jax.stats().in_use, 0);
  EXPECT_EQ(jax.stats().peak_in_use, 16 * 128 * 4);
}

TEST_F(TpuPlugin, values_come_back_and_computed_ones_are_zeros) {
  const Jax jax = start();
  std::vector<float> values(8 * 128);
  std::iota(values.begin(), values.end(), 1.0F);
  pjrt::Buffer* array = jax.put({8, 128}, values.data());
  EXPECT_EQ(jax.values(array, values.size()), values);
  auto* program = jax.compile(program_text("jit_step", 8, 0, false));
  EXPECT_EQ(jax.values(jax.run(program, {array})[0], values.size()), std::vector<float>(values.size(), 0.0F));
}

TEST_F(TpuPlugin, programs_reserve_temporaries_and_code_while_they_are_loaded) {
  const Jax jax = start();
  pjrt::Buffer* array = jax.put({8, 128});
  auto* small = jax.compile(program_text("jit_small", 8, mib, false));
  auto* large = jax.compile(program_text("jit_large", 8, 3 * mib, false));
  EXPECT_EQ(jax.stats().reserved, 0);
  jax.free(jax.run(small, {array})[0]);
  EXPECT_EQ(jax.stats().reserved, static_cast<std::int64_t>(mib + 1024));
  jax.free(jax.run(large, {array})[0]);
  EXPECT_EQ(jax.stats().reserved, static_cast<std::int64_t>(3 * mib + 2048));
  EXPECT_EQ(account().devices[0].peak, 3 * mib + 2048 + 2 * 4096);
  EXPECT_STREQ(account().devices[0].peak_program.text, "jit_large");
  EXPECT_EQ(account().devices[0].program, 3 * mib + 2048);
  EXPECT_EQ(account().devices[0].arguments, 8192u);
  jax.unload(large);
  EXPECT_EQ(jax.stats().reserved, static_cast<std::int64_t>(mib + 1024));
}

TEST_F(TpuPlugin, a_donated_argument_becomes_the_output) {
  const Jax jax = start();
  pjrt::Buffer* array = jax.put({8, 128});
  const std::uint64_t address = jax.address(array);
  auto* program = jax.compile(program_text("jit_step", 8, 0, true));
  pjrt::Buffer* output = jax.run(program, {array})[0];
  EXPECT_TRUE(jax.is_deleted(array));
  EXPECT_EQ(jax.address(output), address);
  EXPECT_EQ(jax.stats().in_use, 4096);
  const Refusal again = refusal_of([&] { jax.run(program, {array}); });
  EXPECT_EQ(again.code, invalid_argument);
  EXPECT_NE(std::string(again.what()).find("deleted or donated"), std::string::npos);
}

TEST_F(TpuPlugin, an_argument_that_must_be_kept_is_not_donated) {
  const Jax jax = start();
  pjrt::Buffer* array = jax.put({8, 128});
  auto* program = jax.compile(program_text("jit_step", 8, 0, true));
  jax.run(program, {array}, 1, {0});
  EXPECT_FALSE(jax.is_deleted(array));
  EXPECT_EQ(jax.stats().in_use, 8192);
}

TEST_F(TpuPlugin, the_same_array_is_not_donated_twice) {
  const Jax jax = start();
  pjrt::Buffer* array = jax.put({8, 128});
  auto* program = jax.compile(program_text("jit_step", 8, 0, true));
  const Refusal refusal = refusal_of([&] { jax.run(program, {array, array}); });
  EXPECT_EQ(refusal.code, invalid_argument);
  EXPECT_NE(std::string(refusal.what()).find("previously donated in the same call"), std::string::npos);
  EXPECT_FALSE(jax.is_deleted(array));
}

TEST_F(TpuPlugin, a_full_device_refuses_and_stays_usable) {
  const Jax jax = start();
  pjrt::Buffer* most = jax.put({80000, 128});
  const Refusal refusal = refusal_of([&] { jax.put({80000, 128}); });
  EXPECT_EQ(refusal.code, resource_exhausted);
  EXPECT_EQ(std::string(refusal.what()),
            "Error allocating device buffer: Attempting to allocate 39.06M. That was not possible. There are 24.94M "
            "free.; (0x0x0_HBM0)");
  EXPECT_EQ(account().refusals, 1u);
  EXPECT_EQ(account().refusal.requested, 80000u * 512);
  jax.free(most);
  jax.put({80000, 128});
}

TEST_F(TpuPlugin, a_program_without_room_leaves_its_arguments) {
  const Jax jax = start();
  pjrt::Buffer* array = jax.put({8, 128});
  auto* program = jax.compile(program_text("jit_huge", 8, 65 * mib, true));
  const Refusal refusal = refusal_of([&] { jax.run(program, {array}); });
  EXPECT_EQ(refusal.code, resource_exhausted);
  EXPECT_NE(std::string(refusal.what()).find("Error loading program 'jit_huge'"), std::string::npos);
  EXPECT_STREQ(account().refusal.program.text, "jit_huge");
  EXPECT_FALSE(jax.is_deleted(array));
  EXPECT_EQ(jax.stats().in_use, 4096);
}

TEST_F(TpuPlugin, holes_are_closed_by_moving_arrays) {
  const Jax jax = start();
  pjrt::Buffer* first = jax.put({40000, 128});  // 19.5 MiB, at the upper end.
  pjrt::Buffer* second = jax.put({40000, 128});
  pjrt::Buffer* third = jax.put({40000, 128});
  jax.free(first);
  jax.free(third);
  const std::uint64_t address = jax.address(second);
  pjrt::Buffer* large = jax.put({80000, 128});
  EXPECT_NE(jax.address(second), address);
  EXPECT_NE(jax.address(second), jax.address(large));
  EXPECT_EQ(account().devices[0].moves, 1u);
}

TEST_F(TpuPlugin, without_defragmentation_holes_stay) {
  set("HBMSCOPE_TPU_DEFRAGMENT", "0");
  const Jax jax = start();
  pjrt::Buffer* first = jax.put({40000, 128});
  jax.put({40000, 128});
  pjrt::Buffer* third = jax.put({40000, 128});
  jax.free(first);
  jax.free(third);
  const Refusal refusal = refusal_of([&] { jax.put({80000, 128}); });
  EXPECT_NE(std::string(refusal.what()).find("Due to fragmentation"), std::string::npos);
}

TEST_F(TpuPlugin, arrays_in_use_by_executions_in_flight_keep_their_memory) {
  set("HBMSCOPE_TPU_RUNS_AHEAD", "2");
  const Jax jax = start();
  auto* program = jax.compile(program_text("jit_step", 8, 0, false));
  pjrt::Buffer* state = jax.put({8, 128});
  for (int i = 0; i < 10; ++i) jax.free(std::exchange(state, jax.run(program, {state})[0]));
  // The newest one, and those that the last two executions have read.
  EXPECT_EQ(jax.stats().in_use, 3 * 4096);
  jax.values(state, 8 * 128);  // Waits for the device.
  EXPECT_EQ(jax.stats().in_use, 4096);
}

TEST_F(TpuPlugin, a_loaded_program_needs_no_room_for_its_temporaries_again) {
  set("HBMSCOPE_TPU_RUNS_AHEAD", "2");
  const Jax jax = start();
  auto* program = jax.compile(program_text("jit_step", 8, 40 * mib, false));
  pjrt::Buffer* state = jax.put({8, 128});
  for (int i = 0; i < 10; ++i) jax.free(std::exchange(state, jax.run(program, {state})[0]));
  EXPECT_EQ(jax.stats().in_use, 3 * 4096) << "24 MiB is free, and nothing has to make room";
}

TEST_F(TpuPlugin, a_program_that_sets_its_statistics_back_does_not_lower_the_account) {
  const Jax jax = start();
  jax.free(jax.put({40000, 128}));
  jax.clear_stats();
  jax.put({8, 128});
  EXPECT_EQ(jax.stats().peak_in_use, 4096);
  EXPECT_EQ(account().devices[0].peak, 40000u * 512);
}

TEST_F(TpuPlugin, what_a_program_uses_at_the_peak_is_told_from_other_arrays) {
  const Jax jax = start();
  jax.put({16, 128});
  pjrt::Buffer* array = jax.put({8, 128});
  auto* program = jax.compile(program_text("jit_step", 8, mib, true));
  jax.run(program, {array});
  EXPECT_EQ(account().devices[0].arguments, 4096u);
  EXPECT_EQ(account().devices[0].others, 8192u);
}

TEST_F(TpuPlugin, what_the_executions_in_flight_use_is_waited_for_when_memory_is_short) {
  set("HBMSCOPE_TPU_RUNS_AHEAD", "32");
  const Jax jax = start();
  auto* program = jax.compile(program_text("jit_step", 8, 0, false));
  pjrt::Buffer* large = jax.put({80000, 128});
  jax.free(jax.run(program, {large})[0]);
  jax.free(large);
  EXPECT_GT(jax.stats().in_use, 80000 * 512);
  jax.put({80000, 128});
}

TEST_F(TpuPlugin, what_the_compiler_refuses_is_passed_on) {
  const Jax jax = start();
  const Refusal refusal = refusal_of([&] { jax.compile(R"({"refusal": "Ran out of memory on HBM"})"); });
  EXPECT_EQ(refusal.code, resource_exhausted);
  EXPECT_STREQ(refusal.what(), "Ran out of memory on HBM");
  EXPECT_EQ(account().compiler_refusals, 1u);
}

TEST_F(TpuPlugin, a_program_is_compiled_once) {
  const Jax jax = start();
  const std::string text = program_text("jit_step", 8, mib, true);
  jax.compile(text);
  EXPECT_EQ(account().compiled_programs, 1u);
  auto* again = jax.compile(text);
  EXPECT_EQ(account().compiled_programs, 1u);
  EXPECT_EQ(account().cached_programs, 1u);
  pjrt::Buffer* array = jax.put({8, 128});
  jax.run(again, {array});
  EXPECT_TRUE(jax.is_deleted(array));
  EXPECT_EQ(jax.stats().reserved, static_cast<std::int64_t>(mib + 1024));
  jax.compile(text, "\x20\x01");  // Another option: field 4.
  EXPECT_EQ(account().compiled_programs, 2u);
}

TEST_F(TpuPlugin, a_damaged_kept_program_is_compiled_again) {
  const Jax jax = start();
  const std::string text = program_text("jit_step", 8, mib, true);
  jax.compile(text);
  for (const auto& entry : fs::directory_iterator(folder_ + "/cache")) fs::resize_file(entry.path(), 100);
  jax.compile(text);
  EXPECT_EQ(account().compiled_programs, 2u);
}

TEST_F(TpuPlugin, an_unsupported_function_says_its_name) {
  const Jax jax = start();
  pjrt::Head given{};
  const Refusal refusal = refusal_of([&] { jax.call(Function::Client_CreateAliasBuffer, given); });
  EXPECT_EQ(refusal.code, unimplemented);
  EXPECT_NE(std::string(refusal.what()).find("PJRT_Client_CreateAliasBuffer"), std::string::npos);
  EXPECT_STREQ(account().unsupported.text, "Client_CreateAliasBuffer");
}

TEST_F(TpuPlugin, a_slice_that_does_not_exist_is_refused) {
  set("HBMSCOPE_TPU_TOPOLOGY", "v5e:3x3");
  EXPECT_NE(std::string(refusal_of([] { start(); }).what()).find("not divisible"), std::string::npos);
}

TEST(TpuWire, maps_have_one_order) {
  using namespace tpu::plugin;
  const auto entry = [](const char* key, const char* value) {
    std::string bytes;
    add_bytes_field(bytes, 1, key);
    add_bytes_field(bytes, 2, value);
    return bytes;
  };
  const auto message = [&](std::initializer_list<const char*> keys) {
    std::string inner, bytes;
    add_number_field(inner, 1, 7);
    for (const char* key : keys) add_bytes_field(inner, 5, entry(key, "x"));
    add_bytes_field(bytes, 3, inner);
    return bytes;
  };
  EXPECT_NE(message({"b", "a"}), message({"a", "b"}));
  EXPECT_EQ(with_sorted_maps(message({"b", "a"})), with_sorted_maps(message({"a", "b"})));
  EXPECT_EQ(with_sorted_maps(message({"a", "b"})), message({"a", "b"}));
  EXPECT_EQ(with_sorted_maps("any text"), "any text");
  // Lists of numbers keep their order.
  std::string list;
  for (const std::uint64_t number : {3, 1, 2}) add_number_field(list, 4, number);
  EXPECT_EQ(with_sorted_maps(list), list);
}

}  // namespace
}  // namespace hbmscope::pretend
