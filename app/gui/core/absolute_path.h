// The absolute form of a path, so that files that were named in different ways can be compared.
#pragma once

#include <filesystem>
#include <string>

namespace hbmscope::gui {

inline std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

}  // namespace hbmscope::gui
