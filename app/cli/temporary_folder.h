// A folder for the files of one command. The destructor removes it with its contents.
#pragma once

#include <string>

namespace hbmscope::cli {

class TemporaryFolder {
 public:
  // "hbmscope-PURPOSE-a1b2c3" in the folder for temporary files.
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }  // Empty: it could not be made.

 private:
  std::string path_;
};

}  // namespace hbmscope::cli
