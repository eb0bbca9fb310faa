#include "app/cli/program_files.h"

#include <fmt/format.h>

#include "app/cli/load.h"

namespace hbmscope::cli {

namespace fs = std::filesystem;

fs::path program_path() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

std::optional<fs::path> find_collector() {
  constexpr const char* name = "libhbmscope_collector.so";
  std::error_code error;
  const fs::path folder = program_path().parent_path();
  for (const auto& place : {folder, folder.parent_path() / "lib" / "hbmscope"})
    if (fs::exists(place / name, error)) return place / name;
  return std::nullopt;
}

Error collector_is_missing() {
  return refusal("libhbmscope_collector.so is missing", "Install it next to hbmscope or in lib/hbmscope.");
}

fs::path find_emulated_folder() {
  std::error_code error;
  const fs::path above = program_path().parent_path().parent_path();
  for (const auto& place : {above / "emulated", above / "lib" / "hbmscope" / "emulated"})
    if (fs::exists(place / "lib" / "libcuda.so.1", error)) return place;
  return {};
}

std::optional<fs::path> find_tpu_plugin() {
  std::error_code error;
  const fs::path folder = find_emulated_folder();
  const fs::path plugin = folder / "tpu" / "libhbmscope_tpu.so";
  return !folder.empty() && fs::exists(plugin, error) ? std::optional(plugin) : std::nullopt;
}

std::optional<fs::path> find_viewer_page() {
  std::error_code error;
  const fs::path above = program_path().parent_path().parent_path();
  for (const auto& place : {above / "share/hbmscope/hbmscope.html", above.parent_path() / "web/app/web/hbmscope.html"})
    if (fs::exists(place, error)) return place;
  return std::nullopt;
}

fs::path find_python_program(const std::string& name) {
  std::error_code error;
  const fs::path above = program_path().parent_path().parent_path();
  for (const auto& place : {above / name, above / "share/hbmscope" / name})
    if (fs::exists(place, error)) return place;
  return {};
}

std::optional<Error> find_preload_fault(std::string_view owner, const std::string& path) {
  if (path.find_first_of(" :") == std::string::npos) return std::nullopt;
  return refusal(fmt::format("the path of {} contains a space or a colon: {}", owner, path),
                 "The loader does not support these in LD_PRELOAD; install hbmscope elsewhere.");
}

}  // namespace hbmscope::cli
