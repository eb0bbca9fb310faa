// An input file, opened once. Readers look at its beginning to recognise their format; one of them then takes all
// bytes, or reads the stream piece by piece.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/file_bytes.h"
#include "analysis/read/read_control.h"

namespace hbmscope {

class InputFile {
 public:
  // `path` is "-" for standard input. Errors: missing, a folder, not readable, empty, larger than max_bytes. `control`,
  // if not null, must outlive the file; it gets the progress and may cancel.
  static Result<InputFile> open(const std::string& path, std::uint64_t max_bytes, ReadControl* control = nullptr);

  const std::string& name() const { return name_; }  // As in messages: "standard input" for "-".
  // The first 64 KiB, or all of a smaller file, without inflating.
  std::span<const std::uint8_t> first_bytes() const { return first_.bytes(); }
  // The beginning of the content, inflated if it is gzip: 64 bytes or more, if the content has that many.
  std::span<const std::uint8_t> beginning() const { return is_gzip_ ? std::span(inside_) : first_.bytes(); }
  bool is_gzip() const { return is_gzip_; }

  // All bytes; the first call reads them. Errors: reading failed, cancelled, larger than max_bytes.
  Result<std::span<const std::uint8_t>> bytes();
  // Moves all bytes out; the file has none afterwards.
  Result<ByteBuffer> take_bytes();

  // The stream of a regular file, at its start, for readers that don't keep everything in memory. Null for a pipe.
  std::FILE* rewound_stream();
  std::optional<std::uint64_t> size() const { return size_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };

  std::string name_;
  std::unique_ptr<std::FILE, Close> stream_;
  std::optional<std::uint64_t> size_;
  std::uint64_t max_bytes_ = 0;
  ReadControl* control_ = nullptr;
  ByteBuffer first_, all_;
  std::vector<std::uint8_t> inside_;
  bool is_gzip_ = false, is_read_ = false;
};

}  // namespace hbmscope
