#include "app/gui/sources/sample.h"

#include <cstdlib>
#include <filesystem>

namespace hbmscope::gui {

std::string find_sample() {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const char* named = std::getenv("HBMSCOPE_SAMPLE"); named != nullptr && *named != '\0') return named;
  // In a virtual environment the program is not where its build expected it.
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  for (const fs::path& candidate : {beside / "share/hbmscope/samples/leak_step_200.pprof.gz",
                                    fs::path(HBMSCOPE_SAMPLE_INSTALLED), fs::path(HBMSCOPE_SAMPLE_IN_SOURCES)})
    if (fs::is_regular_file(candidate, error)) return candidate.string();
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
