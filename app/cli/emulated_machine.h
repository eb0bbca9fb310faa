// The machine of `hbmscope run --emulate h100:8`: which devices, how many, and how large.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator/devices/devices.h"
#include "analysis/model/result.h"

namespace hbmscope::cli {

struct EmulatedMachine {
  allocator::DevicePreset device;
  int count = 1;                   // 1 to device::device_count_max.
  std::uint64_t device_bytes = 0;  // Of each device, as cuMemGetInfo reports it.
};

// `spec` is "h100" or "h100:8". `device_bytes` ("40GiB") replaces the device's memory unless it is empty. Errors: there
// is no such device, it is not a CUDA device, or the number or the size is wrong.
Result<EmulatedMachine> emulated_machine_from(std::string_view spec, std::string_view device_bytes);
std::string text_from_machine(const EmulatedMachine& machine);  // "8 x NVIDIA H100 80GB, 79.1 GiB each"

// The variables that the libraries of allocator/device read.
std::vector<std::pair<std::string, std::string>> variables_of(const EmulatedMachine& machine);

// hbmscope emulate: lists the devices.
int run_emulate(bool json);

}  // namespace hbmscope::cli
