// Files of a folder that are of other formats. Folders hold what a job's other tools wrote, too: such files are left
// out, counted and named, and only a folder in which nothing opens is an error. A damaged file is not skipped: without
// it the figures of the folder would be wrong.
#pragma once

#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope {

class SkippedFiles {
 public:
  // False if the file may not be skipped, because it is not of another format.
  bool add(const Error& error);
  void clear() { errors_.clear(); }
  bool empty() const { return errors_.empty(); }

  // "3 files were skipped: profile.prof is a cProfile profile, a.pkl is a Python pickle and 1 more". Empty if none was.
  std::string text() const;
  // Why nothing of the folder opens. There must be a file.
  Error nothing_opens() const;

 private:
  std::string names() const;

  std::vector<Error> errors_;
};

}  // namespace hbmscope
