#pragma once

#include <filesystem>
#include <optional>

namespace hbmscope::cli {

// libhbmscope_collector.so: next to this program in a build, in lib/hbmscope when installed. If it is in neither place,
// prints that and returns nothing.
std::optional<std::filesystem::path> find_collector();

}  // namespace hbmscope::cli
