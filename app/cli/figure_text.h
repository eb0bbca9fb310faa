// Figures that may be unknown, as the commands print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hbmscope::cli {

// For tables: "2.10 GiB", or "–" if it is unknown (in sentences, use text_from_known_bytes()).
std::string text_or_dash(const std::optional<std::uint64_t>& bytes);

}  // namespace hbmscope::cli
