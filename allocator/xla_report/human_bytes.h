// Sizes as XLA's logs print them, for logs that must equal XLA's byte for byte. hbmscope's own output uses
// analysis/units.
#pragma once

#include <cstdint>
#include <string>

namespace hbmscope::allocator {

std::string xla_human_bytes(std::uint64_t bytes);  // "1023B", "1.5KiB", "38.15MiB"; below 2^63.

}  // namespace hbmscope::allocator
