// The UUIDs of the devices, which identify them: the same device has another ordinal in each process that sees other
// devices (CUDA_VISIBLE_DEVICES) or the same ones in another order (CUDA_DEVICE_ORDER), and in NVML.
#pragma once

#include "collector/abi/cuda.h"

namespace hbmscope::inject::driver {

using namespace cuda;

// "GPU-68626d03-636f-7065-0000-000000000000", or "MIG-..." for a slice of a GPU; with HIP "GPU-68626d03636f7065". Null
// if it is unknown. Queries the driver at the first call for a device, and never in a callback of CUPTI.
const char* uuid_of(Device device);
void forget_uuid_lock();  // In a child after fork().

// Asks for all devices. Called before CUPTI reports calls, because later the driver can't be queried.
void find_all_uuids();

}  // namespace hbmscope::inject::driver
