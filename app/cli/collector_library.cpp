#include "app/cli/collector_library.h"

#include "app/cli/load.h"

namespace hbmscope::cli {

std::optional<std::filesystem::path> find_collector() {
  constexpr const char* name = "libhbmscope_collector.so";
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& place : {folder, folder.parent_path() / "lib" / "hbmscope"})
    if (std::filesystem::exists(place / name, error)) return place / name;
  fail(refusal("libhbmscope_collector.so is missing", "Install it next to hbmscope or in lib/hbmscope."));
  return std::nullopt;
}

}  // namespace hbmscope::cli
