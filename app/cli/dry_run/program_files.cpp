#include "app/cli/dry_run/program_files.h"

#include <glob.h>

#include <initializer_list>

#include <fmt/format.h>

#include "app/cli/load.h"

namespace hbmscope::cli {

namespace fs = std::filesystem;

fs::path program_path() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

namespace {

// The file in the first of the folders that has it; nothing if none has.
std::optional<fs::path> find_in(std::initializer_list<fs::path> folders, const fs::path& file) {
  std::error_code error;
  for (const fs::path& folder : folders)
    if (fs::exists(folder / file, error)) return folder / file;
  return std::nullopt;
}

// The folder above that of the program: of a build, or of an installation.
fs::path folder_above() {
  return program_path().parent_path().parent_path();
}

}  // namespace

std::optional<fs::path> find_collector() {
  return find_in({program_path().parent_path(), folder_above() / "lib" / "hbmscope"}, "libhbmscope_collector.so");
}

Error collector_is_missing() {
  return refusal("libhbmscope_collector.so is missing", "Install it next to hbmscope or in lib/hbmscope.");
}

fs::path find_emulated_folder() {
  const fs::path above = folder_above();
  const auto driver = find_in({above / "emulated", above / "lib" / "hbmscope" / "emulated"}, "lib/libcuda.so.1");
  return driver ? driver->parent_path().parent_path() : fs::path();
}

std::optional<fs::path> find_tpu_plugin() {
  std::error_code error;
  const fs::path folder = find_emulated_folder();
  const fs::path plugin = folder / "tpu" / "libhbmscope_tpu.so";
  return !folder.empty() && fs::exists(plugin, error) ? std::optional(plugin) : std::nullopt;
}

std::optional<fs::path> find_viewer_page() {
  const fs::path above = folder_above();
  return find_in({above / "share/hbmscope", above.parent_path() / "web/app/web"}, "hbmscope.html");
}

std::string default_python() {
  const fs::path above = folder_above(), python = above / "bin" / "python3";
  std::error_code error;
  const bool is_environment = fs::exists(above / "pyvenv.cfg", error) && fs::exists(python, error);
  return is_environment ? python.string() : "python3";
}

std::optional<fs::path> find_python_program(const std::string& name) {
  const fs::path above = folder_above();
  return find_in({above, above / "share/hbmscope"}, name);
}

std::vector<std::string> find_samples(const std::string& pattern) {
  glob_t found{};
  glob((folder_above() / "share/hbmscope" / pattern).c_str(), 0, nullptr, &found);
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return files;
}

std::string find_documentation() {
  std::error_code error;
  const std::filesystem::path folder = folder_above() / "share/doc/hbmscope";
  return std::filesystem::exists(folder / "samples/guides", error) ? folder.string() : std::string();
}

std::optional<Error> find_preload_fault(std::string_view owner, const std::string& path) {
  if (path.find_first_of(" :") == std::string::npos) return std::nullopt;
  return refusal(fmt::format("the path of {} contains a space or a colon: {}", owner, path),
                 "The loader does not support these in LD_PRELOAD; install hbmscope elsewhere.");
}

}  // namespace hbmscope::cli
