// Settings from the environment.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "allocator/emulated/cuda/model/settings.h"

namespace hbmscope::device {
namespace {

struct SettingsTest : testing::Test {
  void set(const char* name, const char* value) {
    setenv(name, value, 1);
    names.push_back(name);
  }
  ~SettingsTest() override {
    for (const char* name : names) unsetenv(name);
  }
  std::vector<const char*> names;
};

TEST_F(SettingsTest, are_an_h100_by_default) {
  const Settings settings = read_settings();
  EXPECT_EQ(settings.device_count, 1);
  EXPECT_EQ(settings.compute_major, 9);
  EXPECT_EQ(settings.visible_devices, std::vector<int>{0});
}

TEST_F(SettingsTest, are_read) {
  set("HBMSCOPE_DEVICE_COUNT", "4");
  set("HBMSCOPE_DEVICE_BYTES", "0x100000000");
  set("HBMSCOPE_DEVICE_COMPUTE", "8.6");
  set("HBMSCOPE_DEVICE_NAME", "NVIDIA A10G");
  const Settings settings = read_settings();
  EXPECT_EQ(settings.device_count, 4);
  EXPECT_EQ(settings.total_bytes, std::uint64_t{1} << 32);
  EXPECT_EQ(settings.compute_major * 10 + settings.compute_minor, 86);
  EXPECT_EQ(settings.name, "NVIDIA A10G");
  EXPECT_EQ(settings.visible_devices, (std::vector<int>{0, 1, 2, 3}));
}

TEST_F(SettingsTest, a_value_that_is_no_number_is_ignored) {
  set("HBMSCOPE_DEVICE_BYTES", "80 GB");
  EXPECT_EQ(read_settings().total_bytes, Settings().total_bytes);
}

TEST_F(SettingsTest, visible_devices_end_at_the_first_that_does_not_exist) {
  set("HBMSCOPE_DEVICE_COUNT", "4");
  set("CUDA_VISIBLE_DEVICES", "2,0,9,1");
  EXPECT_EQ(read_settings().visible_devices, (std::vector<int>{2, 0}));
  set("CUDA_VISIBLE_DEVICES", "");
  EXPECT_TRUE(read_settings().visible_devices.empty());
  set("CUDA_VISIBLE_DEVICES", (text_from_uuid(uuid_of_device(3)) + ",1").c_str());
  EXPECT_EQ(read_settings().visible_devices, (std::vector<int>{3, 1}));
}

}  // namespace
}  // namespace hbmscope::device
