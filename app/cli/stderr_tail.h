// The last of what a job wrote to its standard error, without changing what the job finds there.
//
// A terminal is left alone, and nothing is kept. So is a file: its end is read when needed. Anything else (a
// pipe, a socket, /dev/null) is handed to the job as a pipe, whose bytes a process of our own copies on unchanged: it
// lives as long as somebody can write, so that a killed observer costs the job nothing. When nothing reads the
// bytes any more, the job gets the same error as without it. Where standard output and standard error are one and the
// same, both go through it, so that their order stays.
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

  // Before the job starts. Where no pipe or process can be had, nothing is kept and nothing changes.
  void open();
  // In the job's process, before its program starts.
  void hand_over() const;
  // The job has ended: waits until all that it wrote was copied, or the copying process has ended.
  void finish();

  bool is_kept() const { return way_ != Way::none; }
  bool has_stdout() const { return has_stdout_; }  // In the same text.
  std::uint64_t bytes() const;                     // Written since open().
  std::string read() const;                        // From the beginning of a line, where there is one.

 private:
  enum class Way { none, file, pipe };
  struct Shared;
  bool start_copying();
  void copy();  // All that the copying process does.

  Way way_ = Way::none;
  bool has_stdout_ = false;
  std::uint64_t file_begin_ = 0;
  int file_ = -1, read_end_ = -1, write_end_ = -1;
  Shared* shared_ = nullptr;
};

}  // namespace hbmscope::cli
