// Runs a fuzz target over every file of the folders that are named: the corpus as a plain test, with any compiler.
//   fuzz_replay TARGET FOLDER...
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace {

std::map<std::string_view, FuzzTarget>& targets() {
  static std::map<std::string_view, FuzzTarget> all;
  return all;
}

std::vector<std::filesystem::path> find_files(char** folders, char** end) {
  std::vector<std::filesystem::path> files;
  for (; folders != end; ++folders) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(*folders, error))
      if (entry.is_regular_file()) files.push_back(entry.path());
    if (error) std::fprintf(stderr, "%s: %s\n", *folders, error.message().c_str());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

bool add_fuzz_target(const char* name, FuzzTarget target) {
  return targets().emplace(name, target).second;
}

int main(int argc, char** argv) {
  const auto target = argc > 1 ? targets().find(argv[1]) : targets().end();
  if (target == targets().end()) {
    std::fprintf(stderr, "usage: fuzz_replay TARGET FOLDER...; targets are:\n");
    for (const auto& [name, run] : targets()) std::fprintf(stderr, "  %s\n", std::string(name).c_str());
    return 2;
  }
  const auto files = find_files(argv + 2, argv + argc);
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    std::printf("%s\n", file.string().c_str());
    std::fflush(stdout);  // So that the last line names the file that crashes.
    target->second(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  if (files.empty()) std::fprintf(stderr, "nothing to replay\n");
  return files.empty() ? 1 : 0;
}
