// What cuDeviceGetAttribute answers. Limits follow from the compute capability (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability"); clocks and caches are those of an H100 whatever the device.
#pragma once

namespace hbmscope::device::driver {

inline constexpr int first_pci_bus = 0x10;  // Of device 0.

// `attribute` is a CUdevice_attribute; 0 for those that are not known here: not supported.
int value_of_attribute(int attribute, int physical_ordinal);

}  // namespace hbmscope::device::driver
