// Compiled where a toolkit's cuda.h (version 12.8 or later) exists: device_attributes.h must agree with it.
#include <cuda.h>

#include "allocator/emulated/cuda/driver/device_attributes.h"

namespace hbmscope::device::driver {

#define X(name, number, theirs) static_assert(int(CU_DEVICE_ATTRIBUTE_##theirs) == device_attribute::name);
HBMSCOPE_DEVICE_ATTRIBUTES(X)
#undef X

}  // namespace hbmscope::device::driver
