#include "app/cli/temporary_folder.h"

#include <cstdlib>
#include <filesystem>

namespace hbmscope::cli {

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / ("hbmscope-" + purpose + "-XXXXXX")).string();
  if (const char* made = mkdtemp(pattern.data())) path_ = made;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

}  // namespace hbmscope::cli
