#include "allocator/emulated/gpus/gpus.h"

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace hbmscope::allocator {
namespace {

TEST(Devices, a_name_gives_what_the_device_has) {
  EXPECT_EQ(find_device("h100-80")->bytes(), std::uint64_t{7911} * (std::uint64_t{1} << 30) / 100);
  EXPECT_EQ(find_device("mi300x")->bytes(), std::uint64_t{192} << 30);
  EXPECT_EQ(find_device("h100")->name, "h100-80");
  EXPECT_FALSE(find_device("h10"));
  EXPECT_FALSE(find_device("80"));
}

TEST(Devices, an_alias_names_a_device_and_is_none) {
  for (const DeviceAlias& alias : device_aliases()) {
    EXPECT_TRUE(find_device(alias.device)) << alias.name;
    for (const DevicePreset& device : all_devices()) EXPECT_NE(alias.name, device.name);
    EXPECT_NE(alias.name.find_first_not_of("0123456789"), std::string_view::npos);  // No device's number.
  }
}

TEST(Devices, those_that_can_be_emulated_have_a_compute_capability_and_multiprocessors) {
  for (const DevicePreset& device : all_devices()) {
    EXPECT_EQ(device.compute_capability > 0, device.title.starts_with("NVIDIA")) << device.name;
    EXPECT_EQ(device.multiprocessors > 0, device.compute_capability > 0) << device.name;
  }
}

TEST(Devices, every_one_has_a_name_of_its_own_and_a_source_and_stands_in_the_readme) {
  std::ifstream file("allocator/emulated/gpus/README.md");
  const std::string readme((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::set<std::string_view> names;
  for (const DevicePreset& device : all_devices()) {
    EXPECT_TRUE(names.insert(device.name).second) << device.name;
    EXPECT_NE(device.name.find_first_not_of("0123456789"), std::string_view::npos);  // No device's number.
    const std::string row =
        fmt::format("| `{}` | {} | {}.{:02} | {} | {} |", device.name, device.title, device.centi_gib / 100,
                    device.centi_gib % 100, device.is_reported ? "reported" : "published", device.source);
    EXPECT_NE(readme.find(row), std::string::npos) << row;
    EXPECT_NE(readme.find(fmt::format(" {} MiB |", device.context_mib)), std::string::npos) << device.name;
  }
}

}  // namespace
}  // namespace hbmscope::allocator
