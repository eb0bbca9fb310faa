// Keeps the end of a job's standard error without changing what the job sees.
//
// A terminal is left alone, and nothing is kept. A file is also left alone, and its end is read when needed. Anything
// else (a pipe, a socket, /dev/null) is replaced by a pipe, whose bytes a separate process copies unchanged to the
// original. That process lives as long as anybody can write, so killing the observer does not harm the job. When nobody
// reads the bytes any more, the job gets the same error as without it. If standard output and standard error are the
// same, both go through the pipe, so that their order is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hbmscope::cli {

class StderrTail {
 public:
  static constexpr std::size_t tail_bytes_max = 64 << 10;

  StderrTail() = default;
  ~StderrTail();
  StderrTail(const StderrTail&) = delete;
  StderrTail& operator=(const StderrTail&) = delete;

  // Call it before the job starts. If no pipe or process can be created, nothing is kept and nothing changes.
  void open();
  // Call it in the job's process, before its program starts.
  void hand_over() const;
  // After the job has ended: waits until all of its output was copied, or the copying process has ended.
  void finish();

  bool is_kept() const { return way_ != Way::none; }
  bool has_stdout() const { return has_stdout_; }  // Standard output is in the same text.
  std::uint64_t bytes() const;                     // Written since open().
  std::string read() const;                        // Starts at the beginning of a line, if there is one.

 private:
  enum class Way { none, file, pipe };
  struct Shared;
  bool start_copying();
  void copy();  // The main function of the copying process.

  Way way_ = Way::none;
  bool has_stdout_ = false;
  std::uint64_t file_begin_ = 0;
  int file_ = -1, read_end_ = -1, write_end_ = -1;
  Shared* shared_ = nullptr;
};

}  // namespace hbmscope::cli
