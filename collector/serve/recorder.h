// The recording that is written while a job runs. The job goes on whatever happens to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collector/wire/recording_file.h"

namespace hbmscope::serve {

class Recorder {
 public:
  // Nothing, or why not, in the system's words.
  std::optional<std::string> open(const std::string& path) { return file_.open(path); }
  // After the first failure (disk full) nothing is written any more; what was written stays readable.
  void append(const wire::Block& block) {
    if (!failure_) failure_ = file_.append(block);
  }
  void finish() {
    if (!failure_) failure_ = file_.finish();
  }
  const std::optional<std::string>& failure() const { return failure_; }
  std::uint64_t bytes() const { return file_.bytes(); }  // Written so far.

 private:
  wire::RecordingWriter file_;
  std::optional<std::string> failure_;
};

}  // namespace hbmscope::serve
