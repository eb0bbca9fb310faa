#include "analysis/read/input_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
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

Error missing_file(const std::string& path) {
  struct Scheme {
    std::string_view begin, download;
  };
  constexpr std::array schemes = {Scheme{"http://", "curl -LO URL"},  Scheme{"https://", "curl -LO URL"},
                                  Scheme{"ftp://", "curl -O URL"},    Scheme{"gs://", "gcloud storage cp URL ."},
                                  Scheme{"s3://", "aws s3 cp URL ."}, Scheme{"hf://", "hf download"}};
  for (const Scheme& scheme : schemes)
    if (path.starts_with(scheme.begin))
      return refusal("this is a URL, and hbmscope opens files",
                     fmt::format("Download it first ({}), then give the name of the file.", scheme.download), path);
  if (path.starts_with("file://"))
    return refusal("this is a URL, and hbmscope opens files", "Leave out file://, so that the path remains.", path);
  return refusal("there is no such file", "Check the path.", path);
}

}  // namespace

bool is_blank(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::uint8_t byte) { return byte == 0 || byte == ' ' || (byte >= '\t' && byte <= '\r'); });
}

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
    if (status.type() == fs::file_type::not_found) return Failure(missing_file(path));
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
  if (auto found = file.find_levels(); !found) return Failure(std::move(found.error()));
  if (file.first_.size() == 0)
    return Failure(is_stdin ? refusal("nothing arrived", "Pipe a file or the output of a job into it.", file.name_)
                            : other_format("this is an empty file",
                                           "The job has not written into it, or was stopped before it did.", path));
  file.note_gzip();
  if (is_blank(file.first_.bytes()) && file.first_.size() == file.size_)
    return Failure(other_format("this is a blank file", "Did the job write its output elsewhere?", path));
  return file;
}

Result<InputFile> InputFile::of_text(const std::string& name, std::string text, ReadControl* control) {
  InputFile file;
  file.name_ = name;
  file.control_ = control;
  file.max_bytes_ = text.size();
  file.size_ = text.size();
  file.text_ = std::make_unique<std::string>(std::move(text));
  if (file.text_->empty()) return Failure(refusal("there is no text", "Copy the text of the error first.", name));
  file.stream_.reset(fmemopen(file.text_->data(), file.text_->size(), "rb"));
  if (file.stream_ == nullptr)
    return Failure(refusal("there is not enough memory for it", "Close other programs.", name));
  if (auto found = file.find_levels(); !found) return Failure(std::move(found.error()));
  file.note_gzip();
  return file;
}

void InputFile::note_gzip() {
  is_gzip_ = hbmscope::is_gzip(first_.bytes());
  if (is_gzip_) inside_ = inflate_beginning(first_.bytes());
}

Result<std::size_t> InputFile::read_file(std::span<std::uint8_t> into) {
  const std::size_t got = std::fread(into.data(), 1, into.size(), stream_.get());
  if (got < into.size() && std::ferror(stream_.get()) != 0)
    return Failure(reading_failed(name_, file_bytes_ + got, errno));
  file_bytes_ += got;
  return got;
}

Result<std::size_t> InputFile::read_level(std::size_t number, std::span<std::uint8_t> into) {
  Level& level = levels_[number];
  if (level.at < level.head.size()) {
    const std::size_t count = std::min(into.size(), level.head.size() - level.at);
    std::memcpy(into.data(), level.head.data() + level.at, count);
    level.at += count;
    return count;
  }
  if (level.decompressor == nullptr) return read_file(into);
  return level.decompressor->read([&](std::span<std::uint8_t> more) { return read_level(number - 1, more); }, into);
}

Result<std::size_t> InputFile::fill(std::span<std::uint8_t> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const auto got = read_level(levels_.size() - 1, into.subspan(filled));
    if (!got) return got;
    if (*got == 0) break;
    filled += *got;
  }
  return filled;
}

Result<void> InputFile::find_levels() {
  constexpr std::size_t levels_max = 5;
  levels_.emplace_back();
  while (true) {
    auto first = ByteBuffer::allocate(first_bytes_most, name_);
    if (!first) return Failure(std::move(first.error()));
    const auto got = fill({first->data(), static_cast<std::size_t>(first_bytes_most)});
    if (!got) return Failure(got.error());
    first->shrink(*got);
    const Compression compression = find_compression(first->bytes());
    const bool is_gzip_of_compressed =
        compression == Compression::gzip && find_compression(inflate_beginning(first->bytes())) != Compression::none;
    if (compression == Compression::none || (compression == Compression::gzip && !is_gzip_of_compressed)) {
      first_ = std::move(*first);
      return {};
    }
    if (levels_.size() == levels_max)
      return Failure(
          refusal("it is compressed more than four times over", "Unpack it, and open what is inside.", name_));
    levels_.back().head.assign(first->bytes().begin(), first->bytes().end());
    levels_.push_back({std::make_unique<Decompressor>(compression, name_), {}, 0});
  }
}

// Reads until the end of the file regardless of its reported size: pipes have none, and files grow.
Result<std::span<const std::uint8_t>> InputFile::bytes() {
  constexpr std::uint64_t step = std::uint64_t{4} << 20;
  if (is_read_) return all_.bytes();
  const std::uint64_t begun = first_.size();
  const std::uint64_t expected = is_unpacked() ? begun * 4 : std::max(size_.value_or(0), begun);
  auto buffer = ByteBuffer::allocate(expected + 1, name_);
  if (!buffer) return Failure(std::move(buffer.error()));
  std::memcpy(buffer->data(), first_.data(), begun);
  std::uint64_t filled = begun;
  bool is_at_end = begun < first_bytes_most;
  while (true) {
    if (control_ != nullptr && control_->cancelled) return Failure(refusal("reading was cancelled", {}, name_));
    if (filled > max_bytes_) return too_large(name_, max_bytes_);
    if (control_ != nullptr) control_->done_bytes = is_unpacked() ? file_bytes_ : filled;
    if (is_at_end) break;
    if (filled == buffer->size()) {
      auto larger = ByteBuffer::allocate(buffer->size() * 2, name_);
      if (!larger) return Failure(std::move(larger.error()));
      std::memcpy(larger->data(), buffer->data(), filled);
      buffer = std::move(larger);
    }
    const std::uint64_t wanted = std::min(step, buffer->size() - filled);
    const auto got = fill({buffer->data() + filled, static_cast<std::size_t>(wanted)});
    if (!got) return Failure(got.error());
    filled += *got;
    is_at_end = *got < wanted;
  }
  buffer->shrink(filled);
  all_ = std::move(*buffer);
  is_read_ = true;
  return all_.bytes();
}

// From first_, and then what follows it.
Result<std::size_t> InputFile::read_content(std::span<std::uint8_t> into) {
  const std::span<const std::uint8_t> known = is_read_ ? all_.bytes() : first_.bytes();
  if (next_ < known.size()) {
    const std::size_t count = std::min<std::size_t>(into.size(), known.size() - next_);
    std::memcpy(into.data(), known.data() + next_, count);
    next_ += count;
    return count;
  }
  return is_read_ ? 0 : read_level(levels_.size() - 1, into);
}

Result<std::size_t> InputFile::read_next(std::span<std::uint8_t> into) {
  if (control_ != nullptr && control_->cancelled) return Failure(refusal("reading was cancelled", {}, name_));
  if (is_gzip_ && gzip_ == nullptr) gzip_ = std::make_unique<Decompressor>(Compression::gzip, name_);
  const auto got = gzip_ != nullptr
                       ? gzip_->read([&](std::span<std::uint8_t> more) { return read_content(more); }, into)
                       : read_content(into);
  if (!got) return got;
  unpacked_bytes_ += *got;
  if (unpacked_bytes_ > max_bytes_ && (is_gzip_ || is_unpacked())) return too_large(name_, max_bytes_);
  if (control_ != nullptr) control_->done_bytes = file_bytes_;
  return got;
}

void InputFile::report_unpacking(ImportStatistics& import) const {
  for (const Level& level : levels_)
    if (level.decompressor != nullptr) level.decompressor->report(import);
  if (gzip_ != nullptr) gzip_->report(import);
}

Result<ByteBuffer> InputFile::take_bytes() {
  if (const auto read = bytes(); !read) return Failure(read.error());
  return std::move(all_);
}

std::FILE* InputFile::rewound_stream() {
  if (!size_ || is_unpacked() || std::fseek(stream_.get(), 0, SEEK_SET) != 0) return nullptr;
  return stream_.get();
}

}  // namespace hbmscope
