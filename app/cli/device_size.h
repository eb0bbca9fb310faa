// How much memory a device has, as a person says it: a size, or the name of a common GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/model/result.h"

namespace hbmscope::cli {

// "80GiB", "h100-80". Error: neither, with the names there are.
Result<std::uint64_t> device_bytes_from(std::string_view text);

// An error of a command line, or nothing: a device's number, or a GPU's name.
std::string find_device_fault(const std::string& text);
bool is_device_name(std::string_view text);

}  // namespace hbmscope::cli
