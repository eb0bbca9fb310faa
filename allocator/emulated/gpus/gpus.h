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
  // Compute capability times ten (90: 9.0; developer.nvidia.com/cuda-gpus), and the number of multiprocessors (NVIDIA's
  // architecture white papers; of the SXM board where there are several). 0: not a CUDA device.
  int compute_capability = 0, multiprocessors = 0;
  // What the context of a process takes, with cuBLAS and cuDNN loaded (README.md).
  std::uint32_t context_mib = 502;
  constexpr std::uint64_t bytes() const { return (std::uint64_t{centi_gib} << 30) / 100; }
  constexpr std::uint64_t context_bytes() const { return std::uint64_t{context_mib} << 20; }
};
std::span<const DevicePreset> all_devices();

// What people call the most common variant: "h100" is "h100-80".
struct DeviceAlias {
  std::string_view name, device;
};
std::span<const DeviceAlias> device_aliases();
std::optional<DevicePreset> find_device(std::string_view name);  // By name or alias.

}  // namespace hbmscope::allocator
