#include "tests/profiles/profile_files.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace hbmscope::test {
namespace fs = std::filesystem;

namespace {

void add_files(const fs::path& folder, const std::string& ending, std::vector<fs::path>& files) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.is_regular_file() && entry.path().string().ends_with(ending)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
}

}  // namespace

std::vector<fs::path> sample_files() {
  std::vector<fs::path> files;
  add_files(fs::path(HBMSCOPE_SOURCE_DIR) / "samples", ".pprof.gz", files);
  return files;
}

std::vector<fs::path> real_files(std::string& reason_if_none) {
  const char* named = std::getenv("HBMSCOPE_DATA");
  const fs::path folder = named != nullptr ? fs::path(named) : fs::path(HBMSCOPE_SOURCE_DIR) / "../shared/data";
  std::vector<fs::path> files;
  add_files(folder / "pprof", "", files);
  add_files(folder / "jax", ".pprof.gz", files);
  if (files.empty())
    reason_if_none = "no real profiles in " + folder.string() + "; HBMSCOPE_DATA names the folder that has them";
  return files;
}

std::string read_whole_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace hbmscope::test
