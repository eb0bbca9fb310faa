#include "app/cli/export/output_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace hbmscope::cli {

Result<void> check_output(const std::vector<std::string>& inputs, const std::string& output) {
  namespace fs = std::filesystem;
  std::error_code error;  // If a file can't be examined, it is not the same file.
  if (output.empty() || !fs::exists(output, error)) return {};
  const fs::path folder = fs::absolute(output, error).parent_path();
  for (const std::string& input : inputs) {
    const bool is_same = fs::equivalent(input, output, error);
    const bool is_inside = fs::is_directory(input, error) && fs::equivalent(input, folder, error);
    if (is_same || is_inside)
      return Failure(refusal("the output is also an input, and would be overwritten", "Choose another name.", output));
  }
  return {};
}

Result<void> write_output(const std::string& file, std::string_view bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (out) return {};
  return Failure(refusal(fmt::format("cannot write the file: {}", std::strerror(errno)),
                         "Check the free space and the permissions of the folder.", file));
}

std::string new_recording(const std::string& wanted) {
  constexpr std::size_t bytes_max = 200;  // File systems allow 255, and other files have the same beginning.
  const std::string begin = wanted.substr(0, bytes_max);
  std::string name = begin + ".hbm";
  std::error_code error;  // A link that leads nowhere is taken, too.
  for (int number = 2; std::filesystem::exists(std::filesystem::symlink_status(name, error)); ++number)
    name = fmt::format("{}-{}.hbm", begin, number);
  return name;
}

std::string path_from_root(const std::string& path) {
  std::error_code error;
  const std::string from_root = std::filesystem::absolute(path, error).string();
  return error ? path : from_root;
}

}  // namespace hbmscope::cli
