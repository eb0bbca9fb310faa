#include "app/cli/figure_text.h"

#include <fmt/format.h>

#include "analysis/units/format.h"

namespace hbmscope::cli {

std::string text_or_dash(const std::optional<std::uint64_t>& bytes) {
  return bytes ? text_from_bytes(*bytes) : "–";
}

std::string seconds_text(std::int64_t ns) {
  return fmt::format("{:.6f} s", static_cast<double>(ns) / 1e9);
}

}  // namespace hbmscope::cli
