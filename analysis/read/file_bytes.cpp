#include "analysis/read/file_bytes.h"

#include <cstring>
#include <new>

#include <fmt/format.h>

#include "analysis/read/input_file.h"
#include "analysis/units/format.h"

namespace hbmscope {

Result<ByteBuffer> ByteBuffer::allocate(std::uint64_t bytes, const std::string& what_for) {
  ByteBuffer buffer;
  buffer.data_.reset(new (std::nothrow) std::uint8_t[static_cast<std::size_t>(bytes)]);  // Not zeroed.
  buffer.size_ = bytes;
  if (buffer.data_ == nullptr)
    return Failure(refusal(fmt::format("there is not enough memory for {}", text_from_bytes(bytes)),
                           "Close other programs, or open it on a larger machine.", what_for));
  return buffer;
}

Error reading_failed(const std::string& file, std::uint64_t at_byte, int system_error) {
  return refusal(fmt::format("reading failed at byte {}: {}", at_byte, std::strerror(system_error)),
                 "Check the disk or the network.", file);
}

Result<ByteBuffer> read_file(const std::string& file, std::uint64_t max_bytes, ReadControl* control) {
  auto input = InputFile::open(file, max_bytes, control);
  return input ? input->take_bytes() : Failure(std::move(input.error()));
}

}  // namespace hbmscope
