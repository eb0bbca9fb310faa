#include "app/cli/figure_text.h"

#include "analysis/units/format.h"

namespace hbmscope::cli {

std::string text_or_dash(const std::optional<std::uint64_t>& bytes) {
  return bytes ? text_from_bytes(*bytes) : "–";
}

}  // namespace hbmscope::cli
