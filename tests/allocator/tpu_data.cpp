#include "tests/allocator/tpu_data.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hbmscope::allocator::tpu {
namespace {

std::filesystem::path data_folder() {
  const char* named = std::getenv("HBMSCOPE_DATA");
  return named != nullptr ? named : "../shared/data";
}

}  // namespace

std::vector<std::string> lines_of_data(const std::string& file) {
  std::ifstream in(data_folder() / file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string no_data(const std::string& file) {
  return "no " + (data_folder() / file).string() + " (HBMSCOPE_DATA names the folder)";
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == '\t')
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

}  // namespace hbmscope::allocator::tpu
