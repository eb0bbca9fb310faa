#include "collector/serve/recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "collector/link/meeting_place.h"

namespace hbmscope::serve {

Recorder::~Recorder() {
  for (const Part& part : parts_) close(part.file);
}

std::optional<std::string> Recorder::begin_part(const std::string& path) {
  if (auto wrong = file_.open(path)) return wrong;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::strerror(errno);
  parts_.push_back({file, end_place_, file_.bytes()});
  return std::nullopt;
}

std::optional<std::string> Recorder::open(const std::string& path) {
  path_ = path;
  auto wrong = begin_part(path);
  is_recording_ = !wrong;
  recording_bytes_ = file_.bytes();
  return wrong;
}

void Recorder::append(const wire::Block& block) {
  if (is_lost_) return;
  if (file_.append(block)) {
    if (is_recording_) {
      failure_ = file_.append(block);                                            // It keeps its first failure.
      go_on_in(link::private_folder() + "/blocks-" + std::to_string(getpid()));  // Its own disk is full, say.
      if (!is_lost_ && !file_.append(block)) end_place_ += sizeof(block.header) + block.payload.size();
    } else {
      is_lost_ = true;
    }
    return;
  }
  end_place_ += sizeof(block.header) + block.payload.size();
  if (is_recording_) recording_bytes_ = file_.bytes();
}

void Recorder::go_on_in(const std::string& path) {
  is_recording_ = false;
  is_lost_ = begin_part(path).has_value();
  unlink(path.c_str());
}

void Recorder::stop() {
  if (!is_recording_) return;
  finish();
  go_on_in(path_ + "." + std::to_string(getpid()));
}

void Recorder::finish() {
  if (!is_recording_) return;
  is_recording_ = false;
  failure_ = file_.finish();
  recording_bytes_ = file_.bytes();
}

}  // namespace hbmscope::serve
