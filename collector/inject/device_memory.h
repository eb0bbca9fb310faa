// What a device has, and what of it is free. Asked when a framework's pool appears and when it refuses a request, for
// the answer to "why did it fail": the pool's own figures don't say whether it could have grown.
#pragma once

#include <cstdint>

namespace hbmscope::inject::driver {

// For a device as the program numbers them. Returns wire::unknown_bytes if the driver is not in use, or doesn't say.
// Never call them in a callback of CUPTI.
std::uint64_t total_bytes_of(std::uint32_t device);
// Leaves the calling thread's context, and whether the device has one, as they were.
std::uint64_t free_bytes_of(std::uint32_t device);

}  // namespace hbmscope::inject::driver
