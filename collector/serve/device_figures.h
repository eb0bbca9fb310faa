// What the driver (NVML) says of a device at one moment. Whoever observes asks it, and tells Observer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hbmscope::serve {

struct DeviceFigures {
  struct Holder {
    std::int64_t process = 0;
    std::optional<std::uint64_t> bytes;  // Nothing: the driver does not tell.
  };
  std::uint64_t used_bytes = 0;  // By all processes, the driver too.
  std::vector<Holder> holders;
};

}  // namespace hbmscope::serve
