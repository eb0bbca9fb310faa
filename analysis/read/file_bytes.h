// Whole files in memory that is not zeroed first. Profiles are read in one piece, because the largest are tens of MiB.
// A file that is truncated or on a remote disk must be an error, not a SIGBUS as with mmap.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/read_control.h"

namespace hbmscope {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  // Error if there is not enough memory.
  static Result<ByteBuffer> allocate(std::uint64_t bytes, const std::string& what_for);

  std::uint8_t* data() { return data_.get(); }
  std::uint64_t size() const { return size_; }
  void shrink(std::uint64_t bytes) { size_ = bytes; }  // Drops the end; frees no memory.
  std::span<const std::uint8_t> bytes() const { return {data_.get(), static_cast<std::size_t>(size_)}; }

 private:
  std::unique_ptr<std::uint8_t[]> data_;
  std::uint64_t size_ = 0;
};

// The error for a failed read, with the system's message (errno).
Error reading_failed(const std::string& file, std::uint64_t at_byte, int system_error);

// `file` is "-" for standard input. Errors: missing, a folder, not readable, empty, larger than max_bytes.
Result<ByteBuffer> read_file(const std::string& file, std::uint64_t max_bytes, ReadControl* control = nullptr);

}  // namespace hbmscope
