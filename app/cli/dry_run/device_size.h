// The memory size of a device as a user writes it: a size, or the name of a common GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/model/result.h"

namespace hbmscope::cli {

// "80GiB", "h100-80". Errors: neither; the error lists the known names.
Result<std::uint64_t> device_bytes_from(std::string_view text);

// The error of a command line, or empty. The text is a device number or a GPU name.
std::string find_device_fault(const std::string& text);
bool is_device_name(std::string_view text);

}  // namespace hbmscope::cli
