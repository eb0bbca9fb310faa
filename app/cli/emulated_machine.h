// The machine of `hbmscope run --emulate h100:8` or `--emulate v5e:2x4`: which devices, how many, and how large.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator/devices/devices.h"
#include "allocator/tpu/generation.h"
#include "analysis/model/result.h"

namespace hbmscope::cli {

struct EmulatedMachine {
  allocator::DevicePreset device;  // Of a TPU: name and title only.
  int count = 1;                   // GPUs: 1 to device::device_count_max. TPUs: as JAX counts them (generation.h).
  // Of each device: as cuMemGetInfo reports it, or what the TPU's compiler allows a program.
  std::uint64_t device_bytes = 0;
  const allocator::tpu::Generation* tpu = nullptr;  // Null: GPUs.
  std::string topology;                             // Of TPUs: "v5e:2x4".

  // "GPU 3", "TPU 3".
  std::string name_of_device(int number) const;
  const char* tpu_unit() const { return tpu->devices_per_chip == 1 ? "chip" : "core"; }  // What a TPU device is.
};

// `spec` is "h100" or "h100:8", or a TPU generation with its slice: "v5e:2x4". `device_bytes` ("40GiB") replaces the
// device's memory unless it is empty. Errors: there is no such device, it can't be emulated, or the number or the size
// is wrong.
Result<EmulatedMachine> emulated_machine_from(std::string_view spec, std::string_view device_bytes);
std::string text_from_machine(const EmulatedMachine& machine);  // "8 x NVIDIA H100 80GB, 79.1 GiB each"

// The variables that the libraries of allocator/device read, or the plugin in allocator/tpu/plugin.
std::vector<std::pair<std::string, std::string>> variables_of(const EmulatedMachine& machine);

// hbmscope emulate: lists the devices.
int run_emulate(bool json);

}  // namespace hbmscope::cli
