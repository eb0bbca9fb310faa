#include "analysis/read/file_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "analysis/units/format.h"

namespace hbmscope {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

Failure file_refusal(const std::string& file, std::string what, std::string remedy) {
  return Failure(Error{std::move(what), std::move(remedy), file, {}, false});
}

Failure too_large(const std::string& file, std::uint64_t max_bytes) {
  return file_refusal(file, fmt::format("the file is larger than {}", text_from_bytes(static_cast<std::int64_t>(max_bytes))),
                 "--max-size raises the limit.");
}

Failure cancelled(const std::string& file) {
  return file_refusal(file, "reading was cancelled", {});
}

// Reads until the end of the file, whatever its size was said to be: pipes have none, and files grow.
Result<ByteBuffer> read_all(std::FILE* stream, const std::string& file, std::uint64_t expected, std::uint64_t max_bytes,
                            ReadControl* control) {
  constexpr std::uint64_t step = std::uint64_t{4} << 20;
  auto buffer = ByteBuffer::allocate(std::max<std::uint64_t>(expected + 1, 4096), file);
  if (!buffer) return buffer;
  std::uint64_t filled = 0;
  while (true) {
    if (control != nullptr && control->cancelled) return cancelled(file);
    if (filled == buffer->size()) {
      auto larger = ByteBuffer::allocate(buffer->size() * 2, file);
      if (!larger) return larger;
      std::memcpy(larger->data(), buffer->data(), filled);
      buffer = std::move(larger);
    }
    const std::size_t wanted = static_cast<std::size_t>(std::min(step, buffer->size() - filled));
    const std::size_t got = std::fread(buffer->data() + filled, 1, wanted, stream);
    filled += got;
    if (filled > max_bytes) return too_large(file, max_bytes);
    if (control != nullptr) control->done_bytes = filled;
    if (got == wanted) continue;
    if (std::ferror(stream) != 0) return Failure(reading_failed(file, filled, errno));
    break;
  }
  buffer->shrink(filled);
  return buffer;
}

}  // namespace

Result<ByteBuffer> ByteBuffer::allocate(std::uint64_t bytes, const std::string& what_for) {
  ByteBuffer buffer;
  buffer.data_.reset(new (std::nothrow) std::uint8_t[static_cast<std::size_t>(bytes)]);  // Not set to zero.
  buffer.size_ = bytes;
  if (buffer.data_ == nullptr)
    return file_refusal(what_for,
                   fmt::format("there is not enough memory for {}", text_from_bytes(static_cast<std::int64_t>(bytes))),
                   "Close other programs, or open it on a larger machine.");
  return buffer;
}

Error reading_failed(const std::string& file, std::uint64_t at_byte, int system_error) {
  return Error{fmt::format("reading failed at byte {}: {}", at_byte, std::strerror(system_error)),
               "Is the disk or the network still there?",
               file,
               {},
               false};
}

Result<ByteBuffer> read_file(const std::string& file, std::uint64_t max_bytes, ReadControl* control) {
  namespace fs = std::filesystem;
  if (file == "-") {
    auto buffer = read_all(stdin, "standard input", 0, max_bytes, control);
    if (buffer && buffer->size() == 0) return file_refusal("standard input", "nothing came", "Pipe a profile into it.");
    return buffer;
  }
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) return file_refusal(file, "there is no such file", "Check the path.");
  if (status.type() == fs::file_type::directory)
    return file_refusal(file, "this is a folder", "Name the files in it, for example with a * at the end.");
  const OpenFile stream(std::fopen(file.c_str(), "rb"));
  if (stream == nullptr)
    return file_refusal(file, fmt::format("the file can't be opened: {}", std::strerror(errno)),
                   "Check who owns it and who may read it.");
  const std::uintmax_t size = fs::file_size(file, error);
  const std::uint64_t expected = error ? 0 : static_cast<std::uint64_t>(size);
  if (expected > max_bytes) return too_large(file, max_bytes);
  if (control != nullptr) control->total_bytes = expected;
  auto buffer = read_all(stream.get(), file, expected, max_bytes, control);
  if (buffer && buffer->size() == 0)
    return file_refusal(file, "the file is empty", "Was the job stopped while it was writing? Save the profile again.");
  return buffer;
}

}  // namespace hbmscope
