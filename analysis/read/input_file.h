// A file that was named, opened once: readers look at its beginning to recognise their format, and one of them then
// takes all bytes, or reads from the stream piece by piece.
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
  // where not null, must outlive the file; it gets the progress and may cancel.
  static Result<InputFile> open(const std::string& path, std::uint64_t max_bytes, ReadControl* control = nullptr);

  const std::string& name() const { return name_; }  // As messages have it: "standard input" for "-".
  // The first 64 KiB, or all of a smaller file, as they are.
  std::span<const std::uint8_t> first_bytes() const { return first_.bytes(); }
  // What the content begins with: at least 64 bytes, where there are so many; out of gzip where it is gzip.
  std::span<const std::uint8_t> beginning() const { return is_gzip_ ? std::span(inside_) : first_.bytes(); }
  bool is_gzip() const { return is_gzip_; }

  // All of it, read at the first call. Errors: it can't be read on, cancelled, larger than max_bytes.
  Result<std::span<const std::uint8_t>> bytes();
  // The same, handed over: the file has no bytes afterwards.
  Result<ByteBuffer> take_bytes();

  // Of a regular file its stream, at its start, and its size: for readers that keep less than all of it in memory. Null
  // of a pipe.
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
