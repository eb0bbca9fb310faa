#include "allocator/xla_report/human_bytes.h"

#include <fmt/format.h>

namespace hbmscope::allocator {

std::string xla_human_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{}B", bytes);
  const char* unit = "KMGTPE";
  // Integer division on the way, so the rest below a unit is truncated, not rounded.
  for (; bytes >= 1024 * 1024; bytes /= 1024) ++unit;
  const double value = static_cast<double>(bytes) / 1024;
  return *unit == 'K' ? fmt::format("{:.1f}KiB", value) : fmt::format("{:.2f}{}iB", value, *unit);
}

}  // namespace hbmscope::allocator
