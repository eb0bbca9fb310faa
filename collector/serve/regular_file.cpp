#include "collector/serve/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hbmscope::serve {

RegularFile::RegularFile(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return;
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) return;
  if (fstat(descriptor_, &found) == 0 && S_ISREG(found.st_mode)) {
    bytes_ = static_cast<std::uint64_t>(found.st_size);
    return;
  }
  close(descriptor_);
  descriptor_ = -1;
}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool RegularFile::read(void* to, std::uint64_t offset, std::uint64_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) return false;
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = pread(descriptor_, at, bytes, static_cast<off_t>(offset));
    if (got <= 0) return false;
    at += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace hbmscope::serve
