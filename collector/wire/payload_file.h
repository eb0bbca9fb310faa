// A file without a name that holds the payloads of blocks for which memory has no room: written once, read whenever one
// is decoded, gone with the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace hbmscope::wire {

// In TMPDIR, else in /var/tmp, which is a disk's where /tmp may be memory: a name as mkstemp() and mkdtemp() take it.
std::string temporary_pattern();

class PayloadFile {
 public:
  // Where temporary_pattern() says. Null, and why in `wrong`.
  static std::shared_ptr<PayloadFile> open(std::string& wrong);
  ~PayloadFile();
  PayloadFile(const PayloadFile&) = delete;
  PayloadFile& operator=(const PayloadFile&) = delete;

  // Of one thread. Where it lies; nothing, and why in `wrong`. No signal comes of a limit of files' size (ulimit -f).
  std::optional<std::uint64_t> append(std::span<const std::uint8_t> payload, std::string& wrong);
  // Of any thread, at any time.
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
