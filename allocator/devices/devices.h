// Common GPUs by name, for `--device h100-80`: total memory, and the source of that figure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hbmscope::allocator {

struct DevicePreset {
  std::string_view name;    // "h100-80"
  std::string_view title;   // "NVIDIA H100 80GB"
  std::uint32_t centi_gib;  // Total memory, in hundredths of a GiB.
  // True: as reported by a driver, to a hundredth of a GiB. False: the published size, reading its gigabytes as GiB. A
  // driver reports up to a fiftieth less than that, and up to a twelfth less with error correction in GDDR memory.
  bool is_reported;
  std::string_view source;
  constexpr std::uint64_t bytes() const { return (std::uint64_t{centi_gib} << 30) / 100; }
};
std::span<const DevicePreset> all_devices();
std::optional<DevicePreset> find_device(std::string_view name);

}  // namespace hbmscope::allocator
