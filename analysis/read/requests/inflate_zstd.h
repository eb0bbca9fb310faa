// Inflates zstd frames, with a limit: a kilobyte may unpack to a terabyte.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"

namespace hbmscope {

bool is_zstd(std::span<const std::uint8_t> bytes);

// Inflates all frames. Errors: cut off or damaged (with the byte), more than max_inflated_bytes.
Result<std::string> inflate_zstd(std::span<const std::uint8_t> bytes, const std::string& name,
                                 std::uint64_t max_inflated_bytes);

}  // namespace hbmscope
