#pragma once

#include <filesystem>
#include <optional>

namespace hbmscope::cli {

// libhbmscope_collector.so: next to this program where it was built, in lib/hbmscope where it was installed. Nothing:
// it is in neither, which has been printed.
std::optional<std::filesystem::path> find_collector();

}  // namespace hbmscope::cli
