// An input file, opened once. Readers look at its beginning to recognise their format; one of them then takes all
// bytes, or reads the stream piece by piece. zstd, xz and bzip2 are taken off here, in up to four layers, so no reader
// sees them; gzip directly around the content is left to the readers, because libdeflate inflates it much faster in one
// piece.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/decompress.h"
#include "analysis/read/file_bytes.h"
#include "analysis/read/read_control.h"

namespace hbmscope {

// Nothing can be seen in it: blanks, line ends, and the NULs of a hole.
bool is_blank(std::span<const std::uint8_t> bytes);

class InputFile {
 public:
  // `path` is "-" for standard input. Errors: missing, a folder, not readable, empty or blank, larger than max_bytes.
  // `control`, if not null, must outlive the file; it gets the progress and may cancel.
  static Result<InputFile> open(const std::string& path, std::uint64_t max_bytes, ReadControl* control = nullptr);
  // A text that is no file, such as one from the clipboard. Errors: empty.
  static Result<InputFile> of_text(const std::string& name, std::string text, ReadControl* control = nullptr);

  const std::string& name() const { return name_; }  // As in messages: "standard input" for "-".
  // The first 64 KiB, or all of a smaller file, without inflating gzip.
  std::span<const std::uint8_t> first_bytes() const { return first_.bytes(); }
  // The first 64 KiB of the content, or all of a smaller one, inflated if it is gzip. Of a well packed gzip file they
  // may be fewer, but at least some hundreds.
  std::span<const std::uint8_t> beginning() const { return is_gzip_ ? std::span(inside_) : first_.bytes(); }
  bool is_gzip() const { return is_gzip_; }

  // All bytes; the first call reads them. Errors: reading failed, cancelled, larger than max_bytes.
  Result<std::span<const std::uint8_t>> bytes();
  // Moves all bytes out; the file has none afterwards.
  Result<ByteBuffer> take_bytes();

  // The stream of a regular file, at its start, for readers that don't keep everything in memory. Null for a pipe, and
  // for a file that is unpacked here.
  std::FILE* rewound_stream();
  // Whether name() is the path of a regular file that is not compressed: a library may open it itself.
  bool is_plain_file() const {
    return size_ && text_ == nullptr && stream_.get() != stdin && !is_gzip_ && !is_unpacked();
  }
  // The next bytes of the content, also of gzip, none at the end. For readers that go through it once. Errors: those of
  // bytes(), damaged gzip.
  Result<std::size_t> read_next(std::span<std::uint8_t> into);
  // What was ignored while unpacking (Decompressor::report), of the content read so far.
  void report_unpacking(ImportStatistics& import) const;
  std::optional<std::uint64_t> size() const { return size_; }  // On disk, of a regular file.

 private:
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };

  // The file itself, or what is inside one compression of it.
  struct Level {
    std::unique_ptr<Decompressor> decompressor;  // Null: the file.
    std::vector<std::uint8_t> head;              // Read already, to find out what it is.
    std::size_t at = 0;                          // In `head`.
  };
  Result<std::size_t> read_file(std::span<std::uint8_t> into);
  Result<std::size_t> read_level(std::size_t level, std::span<std::uint8_t> into);
  // As many bytes as there are, up to the size.
  Result<std::size_t> fill(std::span<std::uint8_t> into);
  Result<std::size_t> read_content(std::span<std::uint8_t> into);
  Result<void> find_levels();
  void note_gzip();
  bool is_unpacked() const { return levels_.size() > 1; }

  std::string name_;
  std::unique_ptr<std::string> text_;  // What of_text got.
  std::unique_ptr<std::FILE, Close> stream_;
  std::optional<std::uint64_t> size_;
  std::uint64_t max_bytes_ = 0;
  ReadControl* control_ = nullptr;
  std::vector<Level> levels_;
  std::unique_ptr<Decompressor> gzip_;  // For read_next.
  std::uint64_t file_bytes_ = 0;        // Read from the stream so far.
  std::uint64_t next_ = 0;              // Where read_next is in the content.
  std::uint64_t unpacked_bytes_ = 0;    // By read_next.
  ByteBuffer first_, all_;
  std::vector<std::uint8_t> inside_;
  bool is_gzip_ = false, is_read_ = false;
};

}  // namespace hbmscope
