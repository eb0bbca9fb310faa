#include "app/cli/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "analysis/units/utf8.h"
#include "app/cli/export/output_file.h"

namespace hbmscope::cli {

namespace fs = std::filesystem;

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::make(const std::string& purpose) {
  const char* named = std::getenv("TMPDIR");
  const std::string parent = path_from_root(named != nullptr && *named != 0 ? named : "/tmp");
  std::string pattern = (fs::path(parent) / ("hbmscope-" + purpose + "-XXXXXX")).string();
  if (mkdtemp(pattern.data()) == nullptr)
    return Failure(
        refusal("cannot make a folder for temporary files in " + printable(parent) + ": " + std::strerror(errno),
                "Set TMPDIR to a folder that you can write to."));
  return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(pattern));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace hbmscope::cli
