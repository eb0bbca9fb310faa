// What the emulated machine looks like. Each value comes from one environment variable, so that a command can set them
// before it starts a program; allocator/emulated/cuda/README.md lists the variables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/emulated/accounts/accounts.h"
#include "allocator/emulated/cuda/model/outcome.h"

namespace hbmscope::device {

struct Settings {
  int device_count = 1;                        // HBMSCOPE_DEVICE_COUNT, 0 to device_count_max
  std::uint64_t total_bytes = 85'029'158'912;  // HBMSCOPE_DEVICE_BYTES, of each device; an H100 with 80 GB of HBM3
  std::uint64_t context_bytes = 526'385'152;   // HBMSCOPE_DEVICE_CONTEXT_BYTES, taken by each context (502 MiB)
  // HBMSCOPE_DEVICE_GRANULARITY, a power of two: requests are rounded up to it. 1: the account is exact to the byte.
  std::uint64_t granularity = granularity_bytes;
  std::uint64_t host_bytes_max = std::uint64_t{8} << 30;  // HBMSCOPE_DEVICE_HOST_BYTES, see contents.h
  std::string name = "NVIDIA H100 80GB HBM3";             // HBMSCOPE_DEVICE_NAME
  int compute_major = 9, compute_minor = 0;               // HBMSCOPE_DEVICE_COMPUTE, "9.0"
  int multiprocessors = 132;                              // HBMSCOPE_DEVICE_SMS
  int cuda_version = 13000;   // HBMSCOPE_DEVICE_CUDA, the driver's version: 1000 x major + 10 x minor
  int cudnn_version = 91300;  // HBMSCOPE_DEVICE_CUDNN: 10000 x major + 100 x minor + patch, as cudnnGetVersion has it
  int log_level = 0;          // HBMSCOPE_DEVICE_LOG, see log.h
  std::string
      report_folder;        // HBMSCOPE_DEVICE_REPORT, with the accounts of all processes (accounts.h), if there is one
  int fastest_device = 0;   // HBMSCOPE_DEVICE_FASTEST: comes first, unless CUDA_DEVICE_ORDER is PCI_BUS_ID
  bool are_slices = false;  // HBMSCOPE_DEVICE_MIG: every device is a slice (MIG) of one GPU
  // CUDA_VISIBLE_DEVICES: the ordinals that the program sees, in its order. A list ends before the first entry that
  // names no device, as in CUDA.
  std::vector<int> visible_devices = {0};
};

// Reads the environment. A value that is not set is taken from `defaults`, and so is one that cannot be read, with one
// line on stderr.
Settings read_settings(const Settings& defaults = {});
// Read once, at the first call.
const Settings& settings();
// Replaces the defaults of settings(), before its first call.
void set_default_settings(const Settings& defaults);

// "GPU-68626d00-636f-7065-0000-000000000000" for device 0: 16 bytes, the fourth one is the ordinal.
struct Uuid {
  unsigned char bytes[16];
};
Uuid uuid_of_device(int ordinal);
// The UUID of the GPU that the device is a slice of; without slices, that of the device.
Uuid uuid_of_gpu(int ordinal, const Settings& settings);
// "MIG-..." for a slice.
std::string text_from_uuid(const Uuid& uuid, bool is_slice);
std::string text_from_uuid(const Uuid& uuid);

}  // namespace hbmscope::device
