#include "app/gui/sources/content_key.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <xxhash.h>

namespace hbmscope::gui {
namespace {

constexpr std::uint64_t part_bytes = 64 * 1024;

}  // namespace

std::string content_key_of(const std::vector<std::string>& files) {
  XXH64_hash_t hash = 0;
  std::string bytes;
  const auto add = [&] { hash = XXH3_64bits_withSeed(bytes.data(), bytes.size(), hash); };
  for (const std::string& file : files) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) return {};
    const std::uint64_t size = std::filesystem::file_size(file, error);
    std::ifstream in(file, std::ios::binary);
    if (error || !in) return {};
    bytes = std::to_string(size);
    add();
    const std::uint64_t part = std::min(size, part_bytes);
    for (const std::uint64_t begin : {std::uint64_t{0}, size - part}) {
      bytes.resize(part);
      in.seekg(static_cast<std::streamoff>(begin));
      if (!in.read(bytes.data(), static_cast<std::streamsize>(part))) return {};
      add();
    }
  }
  return files.empty() ? std::string() : fmt::format("{:016x}", hash);
}

}  // namespace hbmscope::gui
