// Takes compression off a stream, piece by piece and in bounded memory: gzip, zstd, xz and bzip2, recognised by their
// first bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "analysis/model/import_statistics.h"
#include "analysis/model/result.h"

namespace hbmscope {

enum class Compression : std::uint8_t { none, gzip, zstd, xz, bzip2 };

// By the first six bytes.
Compression find_compression(std::span<const std::uint8_t> first);
std::string_view text_from_compression(Compression compression);  // "gzip"
// The name without endings such as ".gz" and ".zst", however many.
std::string_view without_compressed_endings(std::string_view name);

// Fills the beginning of the bytes and returns how many, which is 0 at the end.
using ByteSource = std::function<Result<std::size_t>(std::span<std::uint8_t>)>;

class Decompressor {
 public:
  // `name` is that of the file, for errors.
  Decompressor(Compression compression, std::string name);
  ~Decompressor();
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;

  // Up to so many bytes of the content, none at the end. `source` goes on where it stopped. Errors: those of the
  // source; damaged or cut off, with the byte of the compressed data. What follows the compressed data and isn't
  // compressed so is ignored, and counted.
  Result<std::size_t> read(const ByteSource& source, std::span<std::uint8_t> into);

  // The bytes that were ignored, after the content was read to its end. Zeros alone are padding and count as none.
  std::uint64_t ignored_bytes() const { return is_padding_ ? 0 : ignored_bytes_; }
  // Adds a row "bytes_after_zstd" if there are any.
  void report(ImportStatistics& import) const;

  struct Codec;  // One compression's library; public for the codecs alone.

 private:
  Result<void> count_rest(const ByteSource& source);
  Result<bool> refill(const ByteSource& source);
  bool begins_another();

  Compression compression_ = Compression::none;
  std::string name_;
  std::unique_ptr<Codec> codec_;
  std::unique_ptr<std::uint8_t[]> input_;
  std::size_t begin_ = 0, end_ = 0;  // What is left in `input_`.
  std::uint64_t consumed_ = 0;       // Compressed bytes.
  std::uint64_t ignored_bytes_ = 0;
  bool is_padding_ = true;
  bool is_inside_ = true;  // Inside compressed data that has not ended yet.
  bool is_source_at_end_ = false, is_at_end_ = false;
};

}  // namespace hbmscope
