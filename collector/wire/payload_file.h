// An unnamed file for the payloads of blocks that do not fit in memory. Each is written once and read when the block is
// decoded. The file disappears with the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace hbmscope::wire {

// A name pattern for mkstemp() and mkdtemp(), in TMPDIR or else in /var/tmp, which is on disk where /tmp may be in
// memory.
std::string temporary_pattern();

class PayloadFile {
 public:
  // Opens a file at temporary_pattern(). Returns null on failure, with the reason in `wrong`.
  static std::shared_ptr<PayloadFile> open(std::string& wrong);
  ~PayloadFile();
  PayloadFile(const PayloadFile&) = delete;
  PayloadFile& operator=(const PayloadFile&) = delete;

  // For one thread only. Returns the offset; no value on failure, with the reason in `wrong`. Exceeding the file size
  // limit (ulimit -f) raises no signal.
  std::optional<std::uint64_t> append(std::span<const std::uint8_t> payload, std::string& wrong);
  // Thread-safe.
  bool read(std::uint64_t offset, std::span<std::uint8_t> payload) const;
  bool has_failed() const { return has_failed_; }  // Something could not be read back.
  std::uint64_t bytes() const { return end_; }

 private:
  explicit PayloadFile(int file) : file_(file) {}
  int file_;
  std::atomic<std::uint64_t> end_ = 0;
  mutable std::atomic<bool> has_failed_ = false;
};

}  // namespace hbmscope::wire
