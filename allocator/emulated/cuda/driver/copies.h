// Copies and fills of device memory, within the limits of model/contents.h.
#pragma once

#include "allocator/emulated/cuda/model/outcome.h"

namespace hbmscope::device::driver {

// Either side may be device memory or memory of the host. Returns true if the host got values that are made up, as a
// kernel has computed them, or may have.
bool copy_contents(Address to, Address from, Bytes bytes);
// Repeats the value's lowest `value_bytes` (1, 2 or 4) bytes `count` times.
void fill_contents(Address to, unsigned value, Bytes value_bytes, Bytes count);

}  // namespace hbmscope::device::driver
