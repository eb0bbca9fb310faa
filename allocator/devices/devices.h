// Common GPUs by name, for `--device h100-80`: how much memory each has in all, and where that figure is from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hbmscope::allocator {

struct DevicePreset {
  std::string_view name;    // "h100-80"
  std::string_view title;   // "NVIDIA H100 80GB"
  std::uint32_t centi_gib;  // In all, in hundredths of a GiB.
  // As a driver reported it, to a hundredth of a GiB; else the published size, a gigabyte taken for a GiB: of that a
  // driver reports up to a fiftieth less, with error correction in GDDR memory up to a twelfth.
  bool is_reported;
  std::string_view source;
  constexpr std::uint64_t bytes() const { return (std::uint64_t{centi_gib} << 30) / 100; }
};
std::span<const DevicePreset> all_devices();
std::optional<DevicePreset> find_device(std::string_view name);

}  // namespace hbmscope::allocator
