#include "collector/serve/recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "collector/link/meeting_place.h"
#include "collector/wire/payload_file.h"

namespace hbmscope::serve {

std::optional<std::string> try_recording(const std::string& path, RecordingName name) {
  std::string wrong;
  const int file = wire::open_private_file(path, name, wrong);
  if (file < 0) return wrong;
  close(file);
  return std::nullopt;
}

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

void Recorder::open_later(const std::string& path) {
  path_ = path;
  is_recording_ = is_to_open_ = true;
}

void Recorder::begin() {
  if (!std::exchange(is_to_open_, false)) return;
  failure_ = open(path_);
  if (failure_) is_lost_ = !go_on_in_own_folder();
}

std::optional<std::string> Recorder::open_without_name() {
  std::string folder = wire::temporary_pattern();
  if (mkdtemp(folder.data()) == nullptr) return folder + ": " + std::strerror(errno);
  const std::string path = folder + "/recording";
  auto wrong = open(path);
  path_.clear();
  unlink(path.c_str());
  rmdir(folder.c_str());
  return wrong;
}

void Recorder::append(const wire::Block& block) {
  std::optional<std::string> failed = is_lost_ ? std::string() : file_.append(block);
  if (failed && is_recording_) {
    failure_ = failed;
    is_recording_ = false;
    is_lost_ = !go_on_in_own_folder();  // For example, because that disk is full too.
    if (!is_lost_) failed = file_.append(block);
  }
  if (failed) {
    is_lost_ = true;
    lost_events_ += block.header.events;
    return;
  }
  end_place_ += sizeof(block.header) + block.payload.size();
  if (is_recording_) recording_bytes_ = file_.bytes();
}

bool Recorder::go_on_in(const std::string& path) {
  const bool is_begun = !begin_part(path);
  unlink(path.c_str());
  return is_begun;
}

bool Recorder::go_on_in_own_folder() {
  const std::string folder = link::private_folder();
  return !folder.empty() && go_on_in(folder + "/blocks-" + std::to_string(getpid()));
}

// An unnamed recording is not kept anyway, so its file continues to serve viewers.
void Recorder::stop() {
  if (!is_recording_) return;
  if (path_.empty()) {
    is_recording_ = false;
    return;
  }
  finish();
  is_to_open_ = false;
  is_lost_ = !go_on_in(path_ + "." + std::to_string(getpid())) && !go_on_in_own_folder();
}

void Recorder::finish() {
  if (!is_recording_) return;
  is_recording_ = false;
  if (is_to_open_) return;
  failure_ = file_.finish();
  recording_bytes_ = file_.bytes();
}

}  // namespace hbmscope::serve
