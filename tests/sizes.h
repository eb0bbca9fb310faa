// Binary units for tests: 3 * mib.
#pragma once

#include <cstdint>

namespace hbmscope {

inline constexpr std::uint64_t kib = std::uint64_t{1} << 10, mib = std::uint64_t{1} << 20, gib = std::uint64_t{1} << 30;

}  // namespace hbmscope
