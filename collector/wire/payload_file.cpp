#include "collector/wire/payload_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace hbmscope::wire {
namespace {

// Writing beyond the limit raises SIGXFSZ, which ends the process.
bool is_within_limit(std::uint64_t end) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

}  // namespace

std::string temporary_pattern() {
  const char* chosen = std::getenv("TMPDIR");
  return std::string(chosen != nullptr && *chosen == '/' ? chosen : "/var/tmp") + "/hbmscope-XXXXXX";
}

std::shared_ptr<PayloadFile> PayloadFile::open(std::string& wrong) {
  std::string path = temporary_pattern();
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) {
    wrong = path + ": " + std::strerror(errno);
    return nullptr;
  }
  unlink(path.c_str());
  return std::shared_ptr<PayloadFile>(new PayloadFile(file));
}

PayloadFile::~PayloadFile() {
  close(file_);
}

std::optional<std::uint64_t> PayloadFile::append(std::span<const std::uint8_t> payload, std::string& wrong) {
  const std::uint64_t begin = end_;
  if (!is_within_limit(begin + payload.size())) {
    wrong = "files may not be larger here (ulimit -f)";
    return std::nullopt;
  }
  for (std::size_t done = 0; done < payload.size();) {
    const ssize_t bytes = pwrite(file_, payload.data() + done, payload.size() - done, static_cast<off_t>(begin + done));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) {
      wrong = bytes < 0 ? std::strerror(errno) : "there is no room for more";
      return std::nullopt;
    }
    done += static_cast<std::size_t>(bytes);
  }
  end_ = begin + payload.size();
  return begin;
}

bool PayloadFile::read(std::uint64_t offset, std::span<std::uint8_t> payload) const {
  for (std::size_t done = 0; done < payload.size();) {
    const ssize_t bytes = pread(file_, payload.data() + done, payload.size() - done, static_cast<off_t>(offset + done));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) {
      has_failed_ = true;
      return false;
    }
    done += static_cast<std::size_t>(bytes);
  }
  return true;
}

}  // namespace hbmscope::wire
