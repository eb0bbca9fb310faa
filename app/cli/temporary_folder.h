// A folder for the files of one command. The destructor removes it with its contents.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "analysis/model/result.h"

namespace hbmscope::cli {

class TemporaryFolder {
 public:
  // "hbmscope-PURPOSE-a1b2c3" in the folder for temporary files. Error: it can't be made there.
  static Result<std::unique_ptr<TemporaryFolder>> make(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }  // Absolute.

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace hbmscope::cli
