// The machine of a dry run: which devices, how many, and how large.
#pragma once

#include <cstdint>
#include <string>

#include "allocator/devices/devices.h"
#include "allocator/tpu/generation.h"

namespace hbmscope {

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

}  // namespace hbmscope
