#include "analysis/read/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "analysis/read/gzip.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

constexpr std::uint64_t first_bytes_most = std::uint64_t{64} << 10;

Failure too_large(const std::string& file, std::uint64_t max_bytes) {
  return Failure(refusal(fmt::format("the file is larger than {}", text_from_bytes(max_bytes)),
                         "--max-size raises the limit.", file));
}

// Fills `buffer` from `filled` on; fewer bytes than requested mean the end of the file. Errors: reading failed.
Result<std::uint64_t> read_some(std::FILE* stream, ByteBuffer& buffer, std::uint64_t filled, std::uint64_t wanted,
                                const std::string& name) {
  const std::size_t got = std::fread(buffer.data() + filled, 1, static_cast<std::size_t>(wanted), stream);
  if (got < wanted && std::ferror(stream) != 0) return Failure(reading_failed(name, filled + got, errno));
  return got;
}

}  // namespace

Result<InputFile> InputFile::open(const std::string& path, std::uint64_t max_bytes, ReadControl* control) {
  namespace fs = std::filesystem;
  InputFile file;
  file.max_bytes_ = max_bytes;
  file.control_ = control;
  const bool is_stdin = path == "-";
  file.name_ = is_stdin ? "standard input" : path;
  if (is_stdin) {
    file.stream_.reset(stdin);
  } else {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found)
      return Failure(refusal("there is no such file", "Check the path.", path));
    if (status.type() == fs::file_type::directory)
      return Failure(refusal("this is a folder", "Name the files in it, for example with a * at the end.", path));
    file.stream_.reset(std::fopen(path.c_str(), "rb"));
    if (file.stream_ == nullptr)
      return Failure(refusal(fmt::format("the file can't be opened: {}", std::strerror(errno)),
                             "Check its owner and permissions.", path));
    std::setvbuf(file.stream_.get(), nullptr, _IONBF, 0);  // All reads are large.
    const std::uintmax_t size = fs::file_size(path, error);
    if (!error) {
      if (size > max_bytes) return too_large(path, max_bytes);
      if (control != nullptr) control->total_bytes = size;
    }
    if (!error && status.type() == fs::file_type::regular) file.size_ = size;
  }
  auto first = ByteBuffer::allocate(first_bytes_most, file.name_);
  if (!first) return Failure(std::move(first.error()));
  const auto got = read_some(file.stream_.get(), *first, 0, first_bytes_most, file.name_);
  if (!got) return Failure(got.error());
  first->shrink(*got);
  file.first_ = std::move(*first);
  if (*got == 0)
    return Failure(is_stdin
                       ? refusal("nothing arrived", "Pipe a profile into it.", file.name_)
                       : refusal("the file is empty",
                                 "The job may have been stopped while it was writing; save the profile again.", path));
  file.is_gzip_ = hbmscope::is_gzip(file.first_.bytes());
  if (file.is_gzip_) file.inside_ = inflate_beginning(file.first_.bytes());
  return file;
}

// Reads until the end of the file regardless of its reported size: pipes have none, and files grow.
Result<std::span<const std::uint8_t>> InputFile::bytes() {
  constexpr std::uint64_t step = std::uint64_t{4} << 20;
  if (is_read_) return all_.bytes();
  const std::uint64_t begun = first_.size();
  auto buffer = ByteBuffer::allocate(std::max(size_.value_or(0), begun) + 1, name_);
  if (!buffer) return Failure(std::move(buffer.error()));
  std::memcpy(buffer->data(), first_.data(), begun);
  std::uint64_t filled = begun;
  bool is_at_end = begun < first_bytes_most;
  while (true) {
    if (control_ != nullptr && control_->cancelled) return Failure(refusal("reading was cancelled", {}, name_));
    if (filled > max_bytes_) return too_large(name_, max_bytes_);
    if (control_ != nullptr) control_->done_bytes = filled;
    if (is_at_end) break;
    if (filled == buffer->size()) {
      auto larger = ByteBuffer::allocate(buffer->size() * 2, name_);
      if (!larger) return Failure(std::move(larger.error()));
      std::memcpy(larger->data(), buffer->data(), filled);
      buffer = std::move(larger);
    }
    const std::uint64_t wanted = std::min(step, buffer->size() - filled);
    const auto got = read_some(stream_.get(), *buffer, filled, wanted, name_);
    if (!got) return Failure(got.error());
    filled += *got;
    is_at_end = *got < wanted;
  }
  buffer->shrink(filled);
  all_ = std::move(*buffer);
  is_read_ = true;
  return all_.bytes();
}

Result<ByteBuffer> InputFile::take_bytes() {
  if (const auto read = bytes(); !read) return Failure(read.error());
  return std::move(all_);
}

std::FILE* InputFile::rewound_stream() {
  if (!size_ || std::fseek(stream_.get(), 0, SEEK_SET) != 0) return nullptr;
  return stream_.get();
}

}  // namespace hbmscope
