#include "app/gui/sources/sample.h"

#include <cstdlib>
#include <filesystem>

namespace hbmscope::gui {

std::string find_sample() {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const char* named = std::getenv("HBMSCOPE_SAMPLE"); named != nullptr && *named != '\0') return named;
  // Beside an installed program, or above a program in a folder of the build.
  for (fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    for (const char* samples : {"share/hbmscope/samples", "samples"})
      if (const fs::path found = folder / samples / "leak_step_200.pprof.gz"; fs::is_regular_file(found, error))
        return found.string();
  return {};
}

std::string find_failing_sample() {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string sample = find_sample();
  const fs::path failing = fs::path(sample).parent_path() / "fragments.hbm";
  return !sample.empty() && fs::is_regular_file(failing, error) ? failing.string() : std::string();
}

}  // namespace hbmscope::gui
