#include "app/cli/jobs/stderr_tail.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace hbmscope::cli {

// Only the copying process writes it.
struct StderrTail::Shared {
  // Bytes of the job's output so far. `text` is a ring buffer of the last ones: byte N is at N modulo its size.
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<bool> is_busy{false};  // It has read, or is about to read, bytes that it has not passed on yet.
  char text[tail_bytes_max];
};

namespace {

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Closes all files except two. The copying process outlives the observer and must not keep its sockets open.
void close_all_but(int one, int other) {
  std::vector<int> open_files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end; entry != end; entry.increment(error)) {
    const int file = std::atoi(entry->path().filename().c_str());
    if (file != one && file != other) open_files.push_back(file);
  }
  for (const int file : open_files) close(file);
}

bool write_all(int file, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EAGAIN) {
      pollfd waited{file, POLLOUT, 0};
      poll(&waited, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      return false;
    } else if (written > 0) {
      bytes += written;
      count -= static_cast<std::size_t>(written);
    }
  }
  return true;
}

}  // namespace

StderrTail::~StderrTail() {
  for (const int file : {file_, read_end_, write_end_})
    if (file >= 0) close(file);
  if (shared_ != nullptr) munmap(shared_, sizeof(Shared));
}

void StderrTail::open() {
  struct stat err {};
  struct stat out {};
  if (fstat(STDERR_FILENO, &err) != 0 || isatty(STDERR_FILENO) != 0) return;
  has_stdout_ = fstat(STDOUT_FILENO, &out) == 0 && is_same_file(err, out) && !S_ISCHR(err.st_mode);
  if (S_ISREG(err.st_mode)) {
    file_ = ::open("/proc/self/fd/2", O_RDONLY | O_CLOEXEC);
    const bool appends = (fcntl(STDERR_FILENO, F_GETFL) & O_APPEND) != 0;
    file_begin_ = static_cast<std::uint64_t>(appends ? err.st_size : lseek(STDERR_FILENO, 0, SEEK_CUR));
    if (file_ >= 0) way_ = Way::file;
    return;
  }
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  shared_ = new (memory) Shared;
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  read_end_ = ends[0];
  write_end_ = ends[1];
  if (start_copying()) way_ = Way::pipe;
}

void StderrTail::hand_over() const {
  if (way_ != Way::pipe) return;
  dup2(write_end_, STDERR_FILENO);
  if (has_stdout_) dup2(write_end_, STDOUT_FILENO);
}

bool StderrTail::start_copying() {
  // Not a direct child of this process: it may outlive it, and waiting for children must find only the job.
  const pid_t between = fork();
  if (between == 0) {
    const pid_t copier = fork();
    if (copier == 0) copy();
    _exit(copier < 0 ? 1 : 0);
  }
  close(read_end_);  // From now on the job notices when the copying process ends.
  read_end_ = -1;
  int status = 1;
  return between > 0 && waitpid(between, &status, 0) == between && status == 0;
}

void StderrTail::copy() {
  prctl(PR_SET_NAME, "hbmscope-stderr");
  for (const int one : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(one, SIG_IGN);
  close_all_but(read_end_, STDERR_FILENO);
  std::vector<char> taken(tail_bytes_max);
  while (true) {
    pollfd waited{read_end_, POLLIN, 0};
    if (poll(&waited, 1, -1) < 0 && errno != EINTR) return;
    shared_->is_busy = true;
    const ssize_t count = ::read(read_end_, taken.data(), taken.size());
    if (count == 0 || (count < 0 && errno != EINTR)) return;
    const std::uint64_t before = shared_->bytes;
    for (ssize_t i = 0; i < count; ++i)
      shared_->text[(before + static_cast<std::uint64_t>(i)) % tail_bytes_max] = taken[static_cast<std::size_t>(i)];
    if (count > 0) {
      shared_->bytes = before + static_cast<std::uint64_t>(count);
      if (!write_all(STDERR_FILENO, taken.data(), static_cast<std::size_t>(count))) return;
    }
    shared_->is_busy = false;
  }
}

void StderrTail::finish() {
  if (write_end_ < 0) return;
  constexpr useconds_t step_us = 1000;
  // The order of these checks matters: bytes that left the pipe were read by a process that had set is_busy first.
  // Background processes of the job that keep running keep their copying process.
  int left = 0;
  ioctl(write_end_, FIONREAD, &left);
  const std::uint64_t until = shared_->bytes + static_cast<std::uint64_t>(left) + tail_bytes_max;
  const auto waits = [&] {
    return ioctl(write_end_, FIONREAD, &left) == 0 && (left > 0 || shared_->is_busy) && shared_->bytes <= until;
  };
  const auto is_read = [&] {
    pollfd write_end{write_end_, 0, 0};
    return poll(&write_end, 1, 0) == 0;  // Otherwise POLLERR: the copying process has ended.
  };
  while (waits() && is_read()) usleep(step_us);
  close(write_end_);
  write_end_ = -1;
}

std::uint64_t StderrTail::bytes() const {
  if (way_ == Way::pipe) return shared_->bytes;
  struct stat now {};
  if (way_ == Way::none || fstat(file_, &now) != 0) return 0;
  const auto size = static_cast<std::uint64_t>(now.st_size);
  return size > file_begin_ ? size - file_begin_ : 0;
}

std::string StderrTail::read() const {
  const std::uint64_t end = bytes(), count = std::min<std::uint64_t>(end, tail_bytes_max);
  std::string text(count, '\0');
  if (way_ == Way::file) {
    const ssize_t got = pread(file_, text.data(), count, static_cast<off_t>(file_begin_ + end - count));
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  } else if (way_ == Way::pipe) {
    for (std::uint64_t i = 0; i < count; ++i) text[i] = shared_->text[(end - count + i) % tail_bytes_max];
  }
  const std::size_t line = text.find('\n');
  if (end > count && line != std::string::npos) text.erase(0, line + 1);
  return text;
}

}  // namespace hbmscope::cli
