// The text of a file in /proc or /sys, in memory of its own: a thread of the job may have a stack of 16 KiB.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace hbmscope::inject {

// Followed by a zero byte. Empty if the file can't be read, or if there is no memory for it.
class FileText {
 public:
  explicit FileText(const char* path) {
    void* at = mmap(nullptr, bytes_max, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return;
    text_ = static_cast<char*>(at);
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    for (ssize_t more = 1; more > 0 && bytes_ < bytes_max - 1;) {
      more = read(file, text_ + bytes_, bytes_max - 1 - bytes_);
      if (more > 0) bytes_ += static_cast<std::size_t>(more);
    }
    ::close(file);
  }
  ~FileText() {
    if (text_ != nullptr) munmap(text_, bytes_max);
  }
  FileText(const FileText&) = delete;
  FileText& operator=(const FileText&) = delete;

  // Both are null if there is no memory.
  char* begin() { return text_; }
  char* end() { return text_ + bytes_; }
  const char* text() const { return text_ != nullptr ? text_ : ""; }

 private:
  // Arguments and environment together are smaller: six MiB at most (Linux, fs/exec.c, bprm_set_stack_limit). A process
  // may have replaced them with something longer, which is cut off. Only what is read takes memory.
  static constexpr std::size_t bytes_max = std::size_t{7} << 20;

  char* text_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace hbmscope::inject
